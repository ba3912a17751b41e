"""A file that contains its own tests is described by its code."""

from __future__ import annotations

from pathlib import Path

from concordance.query.descriptions.quotations import sentence_pieces
from tests.support.program import build, concord, write

WALK = """pub struct Walker;
impl Walker { pub fn run(&self) {} }
#[cfg(test)]
mod tests {
    #[test]
    fn runs() { super::Walker.run(); }
}
"""


def test_the_purpose_of_a_rust_file_is_not_its_tests(tmp_path: Path) -> None:
    write(tmp_path, {"Cargo.toml": '[package]\nname = "walk"\n', "src/lib.rs": WALK})
    build(tmp_path)
    page = concord("show", "src/lib.rs", "--no-update", cwd=tmp_path).stdout
    purpose = page.split("## File Purpose")[1].split("##")[0]
    assert "Walker" in purpose and "1 test" not in purpose


def test_stars_that_are_no_emphasis_stay() -> None:
    assert sentence_pieces("From (*, C) into *g* groups, (*, g), of **all**.") == ["From (*, C) into g groups, (*, g), of all."]
