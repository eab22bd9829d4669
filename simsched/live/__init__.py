"""All that touches a live server: it is loaded, recorded, and read.

Importing this needs neither sglang_omni, torch nor aiohttp: the modules that use them import them when used.
"""
