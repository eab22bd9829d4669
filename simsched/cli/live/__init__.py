"""simsched live: the commands of the live side, one file each."""

import typer

from simsched.cli.common import kept
from simsched.cli.live import policy, serve

COMMANDS = {"serve": serve, "policy": policy}
app = typer.Typer(
    name="live",
    help="Serve a scenario by SGLang Omni, drive it, record it, and compare.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("policy", epilog=kept(policy.EXAMPLES))(policy.policy)
app.command("serve", epilog=kept(serve.EXAMPLES))(serve.serve)
