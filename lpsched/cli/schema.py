"""`lpsched schema`: the JSON Schema of a kind of file."""

from __future__ import annotations

from typing import Annotated

import typer

from lpsched.cli.options import Kind


def schema(kind: Annotated[Kind, typer.Argument(help="Of which kind of file.")]) -> None:
    """Print the JSON Schema of a kind of file."""
    from lpsched.cli.talk import print_json
    from lpsched.instance.bench_schema import bench_schema
    from lpsched.instance.cluster_schema import clusters_schema
    from lpsched.instance.day_schema import day_schema
    from lpsched.instance.facility_schema import facility_schema
    from lpsched.instance.measurements_schema import measurements_schema
    from lpsched.instance.schema import bag_schema
    from lpsched.instance.study_schema import study_schema

    schemas = {
        Kind.BAG: bag_schema,
        Kind.FACILITY: facility_schema,
        Kind.DAY: day_schema,
        Kind.CLUSTERS: clusters_schema,
        Kind.STUDY: study_schema,
        Kind.BENCH: bench_schema,
        Kind.MEASUREMENTS: measurements_schema,
    }
    print_json(schemas[kind]())
