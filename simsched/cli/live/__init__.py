"""simsched live: the commands of the live side, one file each."""

import typer

from simsched.cli.common import kept
from simsched.cli.live import check, load, policy, read, serve

COMMANDS = {"serve": serve, "load": load, "read": read, "policy": policy, "check": check}
app = typer.Typer(
    name="live",
    help="Serve a scenario by SGLang Omni, load a live server, read what was recorded, and check predictions.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("serve", epilog=kept(serve.EXAMPLES))(serve.serve)
app.command("load", epilog=kept(load.EXAMPLES))(load.load)
app.command("read", epilog=kept(read.EXAMPLES))(read.read)
app.command("policy", epilog=kept(policy.EXAMPLES))(policy.policy)
app.command("check", epilog=kept(check.EXAMPLES))(check.check)
