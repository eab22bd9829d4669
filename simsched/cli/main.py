"""The application: its commands, and one line for whatever goes wrong."""

import os
import sys
from typing import Any

import typer

from simsched.cli import (
    check,
    compare,
    explore,
    figures,
    fit,
    fit_programs,
    list_,
    live,
    report,
    run,
    show,
    timeline,
    validate,
)
from simsched.cli.common import kept
from simsched.core import SimschedError

# The base of all usage errors: click's, or the copy of click that newer typers carry.
CLICK_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
INTERRUPTED = 130

app = typer.Typer(
    name="simsched",
    help="Simulate how a multi-stage GPU service schedules its batches, before you own the GPUs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("run", epilog=kept(run.EXAMPLES))(run.run)
app.command("compare", epilog=kept(compare.EXAMPLES))(compare.compare)
app.command("show", epilog=kept(show.EXAMPLES))(show.show)
app.command("list", epilog=kept(list_.EXAMPLES))(list_.list_)
app.command("check", epilog=kept(check.EXAMPLES))(check.check)
app.command("validate", epilog=kept(validate.EXAMPLES))(validate.validate)
app.command("report", epilog=kept(report.EXAMPLES))(report.report)
app.command("figures", epilog=kept(figures.EXAMPLES))(figures.figures)
app.command("timeline", epilog=kept(timeline.EXAMPLES))(timeline.timeline)
app.command("explore", epilog=kept(explore.EXAMPLES))(explore.explore)
app.command("fit", epilog=kept(fit.EXAMPLES))(fit.fit)
app.command("fit-programs", epilog=kept(fit_programs.EXAMPLES))(fit_programs.fit_programs)
app.add_typer(live.app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a check failed, 2 for a mistake of the user, 130 if interrupted."""
    sys.path.insert(0, os.getcwd())  # for policies of one's own, kind: "module:Name", as `python -m` would
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        code = app(args=arguments, prog_name="simsched", standalone_mode=False)
        sys.stdout.flush()
    except SimschedError as error:
        return _complain(str(error))
    except CLICK_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 2
        return _complain(f"{error.format_message()} (simsched --help)")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if code == INTERRUPTED:
        print("simsched: interrupted: nothing was written", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _complain(line: str) -> int:
    print(f"simsched: {' '.join(line.split())}", file=sys.stderr)
    return 2
