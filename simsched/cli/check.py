"""simsched check: does a policy keep its promises?"""

from typing import Annotated, Any, Literal

import typer

from simsched.cli.common import Json, show

EXAMPLES = """Examples:

simsched check policy drain --set max_batch=8

simsched check policy bucketed --set max_batch=8 --set edges=[20]

simsched check policy my.module:MyPolicy --set max_batch=8 --json
"""


def check(
    what: Annotated[Literal["policy"], typer.Argument(metavar="policy", help="What is checked.", show_default=False)],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A registered name, or module:Name.", show_default=False)],
    fields: Annotated[
        list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="A field of it, such as max_batch=8.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that a policy is pure, legal and fair play, and time it; status 1 if it breaks a promise."""
    from dataclasses import asdict

    from simsched.report import to_json
    from simsched.scenario import policy_of
    from simsched.studies import check_policy

    report = check_policy(policy_of(name, fields or ()))
    if as_json:
        found: dict[str, Any] = {**asdict(report), "ok": report.ok}
        print(to_json(found), end="")
    else:
        show(str(report))
    raise typer.Exit(0 if report.ok else 1)
