"""The plan of a leaderboard: papers x arms x repetitions, each a frozen spec. Runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.arms import (
    ArmContext,
    ArmProgram,
    NothingToRun,
    Preparation,
    arm_program,
    preparation_hash,
)
from bench.arms.interface import OPEN_KINDS
from bench.runs.leaderboard_file import ArmEntry, Leaderboard
from data.corpus import PaperFolder
from data.records.errors import UserError
from data.records.runs import Arm, PaperFingerprint, RunSpec, run_spec_hash

__all__ = ["LeftOut", "Only", "PlannedRun", "RunPlan", "plan_runs"]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: its spec and hash, where it goes, and what is needed to do it.

    `place` is the run's folder relative to the leaderboard's: paper / arm / repetition.
    """

    spec: RunSpec
    spec_hash: str
    place: str
    paper: PaperFolder
    data_dir: Path
    preparation: Preparation


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A pair of paper and arm that is not run, and why."""

    paper_id: str
    arm: str
    why: str


@dataclass(frozen=True, slots=True)
class RunPlan:
    """All runs of a leaderboard, paper by paper, and what was left out."""

    leaderboard: str
    runs: tuple[PlannedRun, ...]
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Only:
    """Papers and arms to keep; an empty set keeps all."""

    papers: frozenset[str] = frozenset()
    arms: frozenset[str] = frozenset()

    def keeps(self, paper_id: str, arm: str) -> bool:
        """Whether a run is kept."""
        return (not self.papers or paper_id in self.papers) and (not self.arms or arm in self.arms)


def plan_runs(
    leaderboard: Leaderboard, data_of: Callable[[str], Path], only: Only | None = None
) -> RunPlan:
    """Plan every run. Files are read, nothing is written.

    Parameters
    ----------
    leaderboard : Leaderboard
    data_of : callable
        Folder of a paper's data, by the paper's id.
    only : Only, optional

    Raises
    ------
    UserError
        When a paper was not built, its data are missing, an arm is unknown or its options wrong,
        or a filter keeps nothing.
    """
    kept = only or Only()
    _check_filter(leaderboard, kept)
    programs = {
        arm.name: arm_program(arm.scaffold or arm.name)
        for arm in leaderboard.arms
        if not kept.arms or arm.name in kept.arms
    }
    runs: list[PlannedRun] = []
    left_out: list[LeftOut] = []
    for paper in leaderboard.papers:
        entries = [arm for arm in leaderboard.arms if kept.keeps(paper.id, arm.name)]
        if not entries:
            continue
        _refuse_outdated(paper)
        data_dir = data_of(paper.id)
        fingerprint = paper.fingerprint(data_dir)
        for entry in entries:
            try:
                runs += _runs_of(
                    leaderboard, paper, data_dir, fingerprint, entry, programs[entry.name]
                )
            except NothingToRun as reason:
                left_out.append(LeftOut(paper.id, entry.name, str(reason)))
    return RunPlan(leaderboard.name, tuple(runs), tuple(left_out))


def _refuse_outdated(paper: PaperFolder) -> None:
    outdated = paper.outdated_sources()
    if outdated:
        raise UserError(
            f"paper {paper.id}: {', '.join(outdated)} changed after extracted/ was made: run "
            f"`bench papers build {paper.root}`"
        )


def _check_filter(leaderboard: Leaderboard, only: Only) -> None:
    for kind, wanted, known in (
        ("paper", only.papers, {paper.id for paper in leaderboard.papers}),
        ("arm", only.arms, {arm.name for arm in leaderboard.arms}),
    ):
        for name in sorted(wanted - known):
            raise UserError(
                f"leaderboard {leaderboard.name} has no {kind} {name!r}: {', '.join(sorted(known))}"
            )


def _runs_of(
    leaderboard: Leaderboard,
    paper: PaperFolder,
    data_dir: Path,
    fingerprint: PaperFingerprint,
    entry: ArmEntry,
    program: ArmProgram,
) -> list[PlannedRun]:
    arm = Arm(
        name=entry.name,
        scaffold=program.name,
        model=entry.model,
        kind=program.kind,
        provider=entry.provider,
        knowledge_cutoff=entry.knowledge_cutoff,
        methods_variant=entry.methods_variant,
        named=entry.named,
        options=entry.options,
    )
    planned = []
    for repetition in range(1, leaderboard.repetitions + 1):
        seed = leaderboard.seed + repetition - 1
        context = _context(arm, paper, seed, leaderboard.base)
        preparation = _prepared(program, context)
        spec = RunSpec(
            leaderboard=leaderboard.name,
            paper=fingerprint,
            arm=arm,
            repetition=repetition,
            seed=seed,
            limits=leaderboard.limits_of(entry),
            isolation=leaderboard.isolation,
            preparation=preparation_hash(preparation),
        )
        place = f"{paper.id}/{arm.name}/{repetition}"
        planned.append(PlannedRun(spec, run_spec_hash(spec), place, paper, data_dir, preparation))
    return planned


def _prepared(program: ArmProgram, context: ArmContext) -> Preparation:
    """What an arm prepared. Third-party code runs here, so whatever it raises is named."""
    try:
        preparation = program.prepare(context)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise UserError(f"arm {context.arm.name}: prepare failed: {kind}: {error}") from error
    if not isinstance(preparation, Preparation):
        kind = type(preparation).__name__
        raise UserError(f"arm {context.arm.name}: prepare gave {kind}, not a Preparation")
    return preparation


def _context(arm: Arm, paper: PaperFolder, seed: int, base: Path) -> ArmContext:
    """Context of an arm: the truth for self-tests only, the paper's folder not for contestants."""
    return ArmContext(
        arm=arm,
        paper_id=paper.id,
        methods=paper.methods,
        templates=paper.templates,
        data_files=tuple(file.name for file in paper.paper.files),
        seed=seed,
        base=base,
        paper_folder=paper if arm.kind in OPEN_KINDS else None,
        truth=paper.tables if arm.kind == "self_test" else None,
    )
