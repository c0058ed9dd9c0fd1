import pytest

from harness.detection.bound import lower_bound


@pytest.mark.parametrize(
    ("found", "tried", "bound"),
    [
        # With all found it is the root: (1 - confidence) ** (1 / tried).
        (1, 1, 0.05),
        (60, 60, 0.05 ** (1 / 60)),
        (187, 187, 0.05 ** (1 / 187)),
        (5000, 5000, 0.05 ** (1 / 5000)),
        # With one found: 1 - confidence ** (1 / tried).
        (1, 10, 1 - 0.95 ** (1 / 10)),
        (1, 5000, 1 - 0.95 ** (1 / 5000)),
        # Quantiles of the beta distribution, from tables: 0.05 of Beta(found, tried - found + 1).
        (8, 10, 0.4930987),
        (57, 60, 0.8758128),
        (95, 100, 0.8977466),
        (0, 20, 0.0),
        (0, 0, 0.0),
    ],
)
def test_it_is_the_exact_bound(found: int, tried: int, bound: float) -> None:
    assert lower_bound(found, tried) == pytest.approx(bound, abs=2e-7)


def test_more_confidence_means_a_lower_bound() -> None:
    assert lower_bound(57, 60, 0.99) < lower_bound(57, 60, 0.95) < lower_bound(57, 60, 0.5)


def test_it_lies_below_what_was_seen_and_grows_with_it() -> None:
    bounds = [lower_bound(found, 30) for found in range(31)]

    assert bounds == sorted(bounds)
    assert all(bound <= found / 30 for found, bound in enumerate(bounds))


@pytest.mark.parametrize(("found", "tried"), [(2, 1), (-1, 3)])
def test_counts_that_cannot_be_are_refused(found: int, tried: int) -> None:
    with pytest.raises(ValueError, match="no count"):
        lower_bound(found, tried)


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_that_cannot_be_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        lower_bound(1, 2, confidence)
