"""Releases as they are in signed metadata."""

from __future__ import annotations

import pytest
from tuf.api.metadata import DelegatedRole, Delegations, Targets

from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease, release_of, targets_of
from prowess.errors import DistributionError


def _released(tree: str) -> SkillRelease:
    skill = ReleasedSkill(name="pdf", tree=tree, artifact="a" * 64, size=1)
    return SkillRelease(number=3, skills=(skill,))


def test_a_release_is_read_as_it_was_written() -> None:
    release = _released(f"sha256:{'0' * 64}")
    assert release_of(Targets(version=3, targets=targets_of(release))) == release


def test_a_release_with_an_archive_of_another_name_or_with_other_signers_is_refused() -> None:
    targets = targets_of(_released(f"sha256:{'0' * 64}"))
    with pytest.raises(DistributionError, match=r"'xlsx\.tar\.gz' of the release is no skill"):
        release_of(Targets(version=3, targets={"xlsx.tar.gz": targets["pdf.tar.gz"]}))
    role = DelegatedRole("more", ["0" * 64], 1, terminating=False, paths=["*"])
    with pytest.raises(DistributionError, match="delegates to other keys"):
        release_of(Targets(version=3, targets=targets, delegations=Delegations({}, {"more": role})))


@pytest.mark.parametrize("tree", ["0" * 71, f"sha256:{'A' * 64}", f"sha256:{'../' * 21}x", f"sha256:{'0' * 63}\n"])
def test_a_release_whose_tree_is_no_digest_is_refused(tree: str) -> None:
    targets = Targets(version=3, targets=targets_of(_released(tree)))
    with pytest.raises(DistributionError, match=r"'pdf\.tar\.gz' of the release is no skill"):
        release_of(targets)
