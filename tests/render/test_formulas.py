"""TeX formulas as MathML: a formula that is not understood in full stays TeX."""

import pytest

pytest.importorskip("latex2mathml")

from concordance.render.formulas import tex_to_mathml


@pytest.mark.parametrize(
    ("formula", "text"), [(r"\text{in\_features}", "in_features"), (r"\text{5\% of \$1}", "5% of $1"), (r"\text{one}", "one")]
)
def test_escapes_in_text_are_resolved(formula: str, text: str) -> None:
    assert f"<mtext>{text}</mtext>" in tex_to_mathml(formula).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("formula", [r"\text{if $x > 0$}", r"\text{a \textbf{b} c}", r"\text{\{x\}}", r"\frac{"])
def test_what_is_not_understood_stays_tex(formula: str) -> None:
    assert tex_to_mathml(formula) == ""
