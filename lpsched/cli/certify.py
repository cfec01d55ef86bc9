"""`lpsched certify` and `lpsched verify`: write a certificate, and check files without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lpsched.cli import options
from lpsched.cli.console import Talk, leave, talk_of, watched

if TYPE_CHECKING:
    from lpsched.bag.model import Bag
    from lpsched.online.clusters import Clusters
    from lpsched.online.day import Day


def certify(
    context: typer.Context,
    instance: Annotated[Path, typer.Argument(help="A bag, a day or clusters: a .yaml or .json file.", readable=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The certificate: a .json file.")],
    objective: options.ObjectiveOption = None,
    price: options.Price = None,
    profit_ratio: options.ProfitRatio = None,
    power_cap: options.PowerCap = None,
    deadline: options.Deadline = None,
    effort: Annotated[
        options.Effort | None,
        typer.Option(help="Prove the bound that 'lpsched solve' finds with this effort; bags only."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best bound so far is certified.", min=0.0)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed, as for 'lpsched solve'; bags only.", min=0)] = None,
    solver: options.SolverName = "highs",
) -> None:
    """Write the bound and the prices that prove it, for anybody to check."""
    from lpsched.instances import read_with_kind

    options.require_output(output, (".json",), instance)
    read, kind = read_with_kind(instance)
    of_bag = {
        "objective": objective,
        "price": price,
        "profit_ratio": profit_ratio,
        "power_cap": power_cap,
        "deadline": deadline,
        "effort": effort,
        "seed": seed,
        "solver": None if solver == "highs" else solver,
    }
    if kind.simulate:
        named = {f"--{name.replace('_', '-')}": value for name, value in of_bag.items()}
        options.refuse(named, f"goes with a bag, and this is {kind.phrase}")
        _certify_arriving(talk_of(context), read, output, time_limit)
    else:
        if not kind.certify:
            from lpsched.bag.files import read_bag

            read_bag(instance)  # which refuses anything else
        given = of_bag | {"seed": seed or 0, "solver": solver}
        _certify_bag(talk_of(context), read, output, time_limit, given)


def _certify_bag(talk: Talk, bag: Bag, output: Path, time_limit: float | None, given: dict[str, Any]) -> None:
    from lpsched.bag.certificate.files import as_dict, write_certificate
    from lpsched.bag.certify import certify as certify_bag
    from lpsched.lp.solvers import solver_named
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.report.answers import certificate_line

    if given["effort"] is None:
        del given["effort"]  # the library's own
    with watched(talk, time_limit) as watch:
        made = certify_bag(bag, **given | {"solver": solver_named(given["solver"])}, watch=watch)
    write_certificate(made, output, version_of_lpsched())
    answer = as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    talk.answer(answer, text=certificate_line(made, str(output)))
    leave(watch, valid=True)


def _certify_arriving(talk: Talk, instance: Day | Clusters, output: Path, time_limit: float | None) -> None:
    from lpsched.model.kinds import kind_of
    from lpsched.model.provenance import version_of_lpsched
    from lpsched.online.certificate.claim import WAITING, objective_of
    from lpsched.online.certificate.files import as_dict, write_day_certificate
    from lpsched.units import lower_text, upper_text

    with watched(talk, None) as watch:
        made = kind_of(instance).load("certify")(instance, time_limit=time_limit, watch=watch)
    write_day_certificate(made, output, version_of_lpsched())
    answer = as_dict(made, version_of_lpsched()) | {"files": [str(output)]}
    told = f"utility {upper_text(made.bound)}"
    if objective_of(instance) == WAITING:
        told = f"a cost of waiting of at least {lower_text(-made.bound)}"
    claim = f"{told} is proved for {instance.name}"
    talk.answer(answer, text=f"{output}: {claim}; check it with 'lpsched verify'\n")
    leave(watch, valid=True)


def verify(
    context: typer.Context,
    instance: Annotated[
        Path, typer.Argument(help="A bag, a facility, a day or clusters: a .yaml or .json file.", readable=False)
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Certificates and schedules of a bag, proofs and allocations of a facility, "
            "or certificates and schedules of a day or of clusters.",
            readable=False,
        ),
    ],
) -> None:
    """Check certificates, schedules, proofs and allocations, without any solver."""
    from lpsched.auditing import audit
    from lpsched.instances import read_instance
    from lpsched.report.tables import audit_tables

    result = audit(read_instance(instance), files)
    talk_of(context).answer(result.to_dict(), audit_tables(result))
    if not result.accepted:
        raise typer.Exit(1)
