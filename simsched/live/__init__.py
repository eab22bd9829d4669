"""The live side: serve a scenario by SGLang Omni, drive it, record it, and put the same policies before real stages.

Importing this room needs neither SGLang Omni, torch nor aiohttp: the modules that do need them import them when used.
"""
