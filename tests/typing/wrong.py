"""A user's code that is wrong: `make types` fails where mypy or pyright has nothing against a line, or something else."""

from __future__ import annotations

from pytest_irmetrics import Evaluation, GoldenSet, IRMetrics, Run, batched, compare, evaluate


def wrong(irmetrics: IRMetrics, golden: GoldenSet, now: Evaluation) -> None:
    from pytest_irmetrics import GoldenSett  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: F401

    irmetrics.chek()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    irmetrics.check(golden, against="main.json")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    irmetrics.acheck().scores  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
    golden.queries[1]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
    evaluate(golden)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    evaluate(golden, Run({}), metric="mrr")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    compare(now, Run({}))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    batched(golden)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    now["mrr"].delta  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
    now.depth = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    # What the package itself reads of an evaluation.
    now.narrowed  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
