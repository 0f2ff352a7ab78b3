"""What other rules find in studies of which the truth is known.

The first line is {"methods": K, "mixed": how many studies get a mixed model, "truth": how much
the first method is better}, and each further one a study: by task, method and sample what was
scored. Prints shares: of the studies with a false winner, and of the pairs with a difference that
have their winner. -1 is for a rule that does not apply. Needs numpy, scipy, statsmodels.
"""

import itertools
import json
import sys
import warnings

import numpy as np
from scipy import stats
from statsmodels.regression.mixed_linear_model import MixedLM

LEVEL = 0.05


class Rule:
    """Counts what a rule finds."""

    def __init__(self, pairs, truth):
        self.pairs, self.truth, self.studies, self.false, self.found = pairs, truth, 0, 0, 0.0

    def add(self, winners):
        """winners has +1, -1 or 0 of each pair."""
        self.studies += 1
        wrong, right, apart = False, 0, 0
        for (a, _), side in zip(self.pairs, winners):
            truth = np.sign(self.truth) if a == 0 else 0
            apart += truth != 0
            wrong |= bool(side != 0 and side != truth)
            right += truth != 0 and side == truth
        self.false += wrong
        self.found += right / max(apart, 1)

    def shares(self):
        if self.studies == 0:
            return -1, -1
        return self.false / self.studies, self.found / self.studies


def decided(p, mean, family):
    return int(np.sign(mean)) if p * family <= LEVEL else 0


def pooled(d, family):
    every = np.concatenate(d)
    if np.ptp(every) == 0:
        return 0
    return decided(stats.ttest_1samp(every, 0).pvalue, every.mean(), family)


def mixed(d, family):
    """A random intercept of tasks on the differences: their effects are drawn, too.

    Powell's method goes first, and the standard error is of the variances: where that of tasks is
    estimated as 0, the default optimizer takes a wrong mean, and the Hessian has no inverse.
    """
    every, groups = np.concatenate(d), np.repeat(np.arange(len(d)), [len(x) for x in d])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = MixedLM(every, np.ones((len(every), 1)), groups).fit(reml=True, method=["powell", "lbfgs"])
    except np.linalg.LinAlgError:
        return 0, True
    mean, between, within = float(fit.fe_params[0]), float(np.asarray(fit.cov_re)[0, 0]), float(fit.scale)
    error = 1 / np.sqrt(sum(len(x) / (within + len(x) * between) for x in d))
    return decided(2 * stats.norm.sf(abs(mean) / error), mean, family), not fit.converged


def ranks(means):
    """Friedman with Nemenyi (Demsar 2006) on the means, tasks by methods; Wilcoxon of two."""
    tasks, k = means.shape
    pairs = list(itertools.combinations(range(k), 2))
    if k == 2:
        d = means[:, 0] - means[:, 1]
        if not d.any():
            return [0]
        return [decided(stats.wilcoxon(d).pvalue, np.median(d), 1)]
    if np.ptp(means, axis=1).max() == 0 or stats.friedmanchisquare(*means.T).pvalue > LEVEL:
        return [0] * len(pairs)
    rank = stats.rankdata(means, axis=1).mean(axis=0)
    critical = stats.studentized_range.ppf(1 - LEVEL, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * tasks))
    return [int(np.sign(rank[a] - rank[b])) if abs(rank[a] - rank[b]) >= critical else 0 for a, b in pairs]


def main():
    first = json.loads(sys.stdin.readline())
    pairs = list(itertools.combinations(range(first["methods"]), 2))
    rules = {name: Rule(pairs, first["truth"]) for name in ("Pooled", "Mixed", "Ranks")}
    fits = failed = 0
    for number, line in enumerate(sys.stdin):
        tasks = [np.array(task) for task in json.loads(line)]
        apart = [[task[a] - task[b] for task in tasks] for a, b in pairs]
        rules["Pooled"].add([pooled(d, len(pairs)) for d in apart])
        if len(tasks) == 1:
            continue
        rules["Ranks"].add(ranks(np.array([task.mean(axis=1) for task in tasks])))
        if number < first["mixed"]:
            found = [mixed(d, len(pairs)) for d in apart]
            rules["Mixed"].add([side for side, _ in found])
            fits, failed = fits + len(found), failed + sum(bad for _, bad in found)
    out = {"MixedFailed": failed / fits if fits else -1}
    for name, rule in rules.items():
        out[name + "False"], out[name + "Found"] = rule.shares()
    json.dump(out, sys.stdout)


main()
