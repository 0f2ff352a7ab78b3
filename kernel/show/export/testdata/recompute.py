"""Makes a comparison's tables of exported trials, with pandas, scipy and statsmodels.

    noema runs export last --format csv --out trials.csv
    python recompute.py trials.csv

Prints JSON: each method's measures and use with their intervals, and each pair's
differences and ratios.
"""

import itertools
import json
import sys

import numpy as np
import pandas as pd
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, norm, t
from statsmodels.stats.proportion import proportion_confint

LEVEL = 0.95
RESOURCES = ["calls", "tokens", "cost_usd", "latency_ms", "input_tokens", "output_tokens"]


def load(path):
    rows = pd.read_csv(path, dtype={"sample": str, "cluster": str, "method": str})
    rows = rows[~rows["infrastructure_failure"]].copy()
    rows["calls"] += rows["tool_calls"]
    rows["tokens"] = rows["input_tokens"] + rows["output_tokens"]
    rows["cluster"] = rows["cluster"].fillna(rows["sample"])
    return rows


def per_sample(rows, method, column):
    """The mean of each sample's epochs, and the sample's cluster."""
    mine = rows[(rows["method"] == method) & rows[column].notna()]
    return mine.groupby("sample", sort=False).agg(x=(column, "mean"), cluster=("cluster", "first"))


def cr2(x, cluster):
    """The standard error of a mean of clusters, and its degrees of freedom."""
    n, residual = len(x), x - x.mean()
    g = pd.DataFrame({"r": residual, "c": cluster}).groupby("c")["r"]
    size = g.size().to_numpy(float)
    c = 1 / (1 - size / n)
    se = np.sqrt((c * g.sum().to_numpy() ** 2).sum()) / n
    df = n * n / ((c**2 * size**2).sum() - 2 / n * (c**2 * size**3).sum() + (c * size**2).sum() ** 2 / n**2)
    return se, df


def student(frame):
    x = frame["x"].to_numpy()
    se, df = cr2(x, frame["cluster"].to_numpy())
    if se <= 1e-12 * abs(x.mean()):
        return [x.mean(), None, None, len(x)]
    half = t.ppf((1 + LEVEL) / 2, df) * se
    return [x.mean(), max(0, x.mean() - half), x.mean() + half, len(x)]


def merit(frame):
    """Wilson's interval, with as many answers as the spread is worth."""
    x, cluster = frame["x"].to_numpy(), frame["cluster"].to_numpy()
    n, mean, units = len(x), x.mean(), frame["cluster"].nunique()
    if units == n and np.isin(x, [0, 1]).all():
        return [mean, *proportion_confint(x.sum(), n, 1 - LEVEL, "wilson"), n]
    se, df = cr2(x, cluster)
    means = frame.groupby("cluster")["x"].mean()
    inside = units - max((means == 0).sum(), (means == 1).sum())
    worth = mean * (1 - mean) / se**2
    q = t.ppf((1 + LEVEL) / 2, min(df, inside + 2))
    return [mean, *proportion_confint(mean * worth, worth, 2 * norm.sf(q), "wilson"), n]


def exact(z, n):
    """Suissa and Shuster: the tail of |wins - losses| / sqrt(wins + losses) from z on, at the
    least favourable share of samples that tell the methods apart."""
    if z == 0:
        return 1.0
    k = np.arange(1, n + 1)
    fewest = np.floor((k - z * np.sqrt(k)) / 2 + 1e-9)
    tails = np.where(fewest >= 0, 2 * binom.cdf(fewest, k, 0.5), 0)
    mean = lambda share: float(binom.pmf(k, n, share) @ tails)
    shares = np.sin(np.linspace(0, np.pi / 2, 40 * int(np.sqrt(n)) + 40)) ** 2
    best = max(range(len(shares)), key=lambda i: mean(shares[i]))
    around = shares[max(0, best - 1)], shares[min(len(shares) - 1, best + 1)]
    return max(mean(shares[best]), -minimize_scalar(lambda s: -mean(s), bounds=around, method="bounded", options={"xatol": 1e-12}).fun)


def tango(wins, losses, n, level):
    """Tango's score interval of the difference of paired proportions, as wide as the exact
    test at no difference."""

    def distance(delta):
        b = -wins - losses + (2 * n - wins + losses) * delta
        q = (np.sqrt(max(0, b * b + 8 * n * losses * delta * (1 - delta))) - b) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        return (wins - losses - n * delta) / np.sqrt(variance) if variance > 0 else np.sign(wins - losses - n * delta) * np.inf

    low, high = 0.0, np.sqrt(n)  # the largest statistic that is not significant
    for _ in range(40):
        mid = (low + high) / 2
        low, high = (mid, high) if exact(mid, n) > 1 - level else (low, mid)
    z, at = max(norm.ppf((1 + level) / 2), low), (wins - losses) / n
    end = lambda f, low, high: brentq(lambda d: np.clip(f(d), -1e6, 1e6), low, high, xtol=1e-12)
    tiny = 1e-9
    return end(lambda d: distance(d) - z, -1 + tiny, at), end(lambda d: distance(d) + z, at, 1 - tiny)


def allowed(d, cluster, bound, alpha):
    """Half the interval: Student's t with an allowance for what no unit has shown."""
    se, df = cr2(d, cluster)
    return np.hypot(t.ppf(1 - alpha / 2, df) * se, bound * np.log(2 / alpha))


def common(a, b):
    return a.join(b["x"].rename("x_b"), how="inner")


def pair(a, b, level):
    both = common(a, b)
    d = (both["x"] - both["x_b"]).to_numpy()
    d = np.where(np.abs(d) <= 1e-12, 0, d)
    wins, losses, n = int((d > 0).sum()), int((d < 0).sum()), len(d)
    out = {"difference": d.mean(), "n": n, "wins": wins, "losses": losses}
    if both["cluster"].nunique() == n and np.isin(both[["x", "x_b"]], [0, 1]).all():
        out["low"], out["high"] = tango(wins, losses, n, level)
        out["p"] = exact(abs(wins - losses) / np.sqrt(max(1, wins + losses)), n)
        return out
    groups = pd.Series(d).groupby(both["cluster"].to_numpy())
    sums, sizes = groups.sum().to_numpy(), groups.size().to_numpy(float)
    above = lambda m: gaffke(sums - m * sizes, -(1 + m) * sizes.max())
    below = lambda m: gaffke(m * sizes - sums, (m - 1) * sizes.max())
    alpha = (1 - level) / 2
    out["low"] = brentq(lambda m: above(m) - alpha, -1, d.mean(), xtol=1e-10) if above(d.mean()) > alpha else d.mean()
    out["high"] = brentq(lambda m: below(m) - alpha, d.mean(), 1, xtol=1e-10) if below(d.mean()) > alpha else d.mean()
    out["p"] = min(1.0, 2 * min(above(0), below(0)))
    return out


def gaffke(y, worst):
    """The chance that the sum of all y and the worst value, each times an exponential of its own,
    is 0 or less."""
    y = np.append(y, worst)
    if (y <= 0).all() or (y >= 0).all():
        return float((y <= 0).all())
    v = np.arange(-30, 30, 0.02)
    t = np.outer(np.exp(v) / np.sqrt((y**2).sum()), y)
    wave = np.exp(-0.5 * np.log1p(t**2).sum(1)) * np.sin(np.arctan(t).sum(1))
    return 0.5 - wave.sum() * 0.02 / np.pi


def ratio(a, b, level):
    """The ratio of means, with Fieller's interval: the ratios R that a - R b does not refute."""
    both = common(a, b)
    x, y, cluster = both["x"].to_numpy(), both["x_b"].to_numpy(), both["cluster"].to_numpy()
    value = x.sum() / y.sum()
    if np.abs(x - value * y).max() <= 1e-9 * np.abs(x).max():
        return {"ratio": value}

    def refutes(log):
        d = x - value * np.exp(log) * y
        farthest = pd.Series(d - d.mean()).groupby(cluster).sum().abs().max() / len(d)
        return abs(d.mean()) - allowed(d, cluster, farthest, 1 - level)

    ends = [value * np.exp(brentq(refutes, 0, far)) if refutes(far) > 0 else None for far in (-np.log(1e3), np.log(1e3))]
    return {"ratio": value, "low": ends[0], "high": ends[1]}


def main(path):
    rows = load(path)
    metrics = [c for c in rows.columns if c.startswith("score.")]
    names = list(rows["method"].unique())
    pairs = list(itertools.combinations(names, 2))
    level = 1 - (1 - LEVEL) / len(pairs)
    out = {"methods": {}, "pairs": {}}
    for m in names:
        out["methods"][m] = {c.removeprefix("score."): merit(per_sample(rows, m, c)) for c in metrics}
        out["methods"][m] |= {r: student(per_sample(rows, m, r)) for r in RESOURCES}
    for c in metrics + RESOURCES[:4]:
        found = {}
        for a, b in pairs:
            one, other = per_sample(rows, a, c), per_sample(rows, b, c)
            found[a, b] = pair(one, other, level) if c in metrics else ratio(one, other, level)
        for f in found.values():
            if "p" in f:
                f["corrected"] = min(1, f["p"] * len(pairs))
        for (a, b), f in found.items():
            out["pairs"].setdefault(f"{a} - {b}", {})[c.removeprefix("score.")] = f
    json.dump(out, sys.stdout, default=float)


if __name__ == "__main__":
    main(sys.argv[1])
