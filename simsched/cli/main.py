"""The application: its commands, and one line for whatever goes wrong."""

import sys

import click
import typer

from simsched.cli import compare, fit, list_, report, run, show, validate
from simsched.core import SimschedError

app = typer.Typer(
    name="simsched",
    help="Simulate how a multi-stage GPU service schedules its batches, before you own the GPUs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("run", epilog=run.EXAMPLES)(run.run)
app.command("compare", epilog=compare.EXAMPLES)(compare.compare)
app.command("show", epilog=show.EXAMPLES)(show.show)
app.command("list", epilog=list_.EXAMPLES)(list_.list_)
app.command("validate", epilog=validate.EXAMPLES)(validate.validate)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("fit", epilog=fit.EXAMPLES)(fit.fit)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 for a mistake of the user, 130 if interrupted."""
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        code = app(args=arguments, prog_name="simsched", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except SimschedError as error:
        return _complain(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        return _complain(f"{error.format_message()} (simsched --help)")
    except (KeyboardInterrupt, click.Abort):
        print("simsched: interrupted: nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 0


def _complain(line: str) -> int:
    print(f"simsched: {' '.join(line.split())}", file=sys.stderr)
    return 2
