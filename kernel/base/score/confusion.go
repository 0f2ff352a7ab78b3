package score

// confusion counts outcomes by gold and by predicted level, and adds up their
// primitives.
type confusion struct {
	levels     int
	counts     []float64 // by gold level, then by predicted level, of which none is the first
	primitives float64
	of         float64 // outcomes with primitives
}

func newConfusion(levels int) confusion {
	return confusion{levels: levels, counts: make([]float64, levels*(levels+1))}
}

// add counts an outcome n times.
func (c *confusion) add(o outcome, n float64) {
	c.counts[c.cell(o)] += n
	if o.hasPrimitives {
		c.primitives += o.primitives * n
		c.of += n
	}
}

// cell is the place of an outcome among the counts.
func (c *confusion) cell(o outcome) int { return o.gold*(c.levels+1) + o.predicted - noLevel }

// measures are those of [OfCorpus].
func (c *confusion) measures() [3]float64 {
	auprc := c.ordinalAUPRC()
	return [3]float64{c.macroF1(), auprc, auprc * c.meanPrimitives()}
}

func (c *confusion) at(gold, predicted int) float64 {
	return c.counts[gold*(c.levels+1)+predicted-noLevel]
}

// meanPrimitives is 1 where there are no primitives to be right about.
func (c *confusion) meanPrimitives() float64 {
	if c.of == 0 {
		return 1
	}
	return c.primitives / c.of
}

// macroF1 averages the F1 over the levels that occur in the gold, which are the same for
// all methods. Differs from scikit-learn, which by default also averages over levels that
// occur in the predictions alone: there a method that names a rare level loses, on samples
// without that level, against one that never does.
func (c *confusion) macroF1() float64 {
	sum, n := 0.0, 0
	for level := range c.levels {
		gold, both := 0.0, 0.0 // in the gold; and predicted, too
		for other := noLevel; other < c.levels; other++ {
			gold += c.at(level, other)
			if other > noLevel {
				both += c.at(other, level)
			}
		}
		if gold > 0 {
			sum += 2 * c.at(level, level) / (gold + both)
			n++
		}
	}
	return sum / float64(n)
}

// ordinalAUPRC is the mean, over the thresholds between levels, of the average
// precision in finding the samples at or above the threshold by their
// predicted level. Thresholds that no gold level reaches are left out.
func (c *confusion) ordinalAUPRC() float64 {
	sum, n := 0.0, 0
	for threshold := 1; threshold < c.levels; threshold++ {
		if ap := c.averagePrecision(threshold); finite(ap) {
			sum += ap
			n++
		}
	}
	return sum / float64(n)
}

// averagePrecision is the step-wise area under the precision-recall curve,
// with equal scores taken together: the sum of P_k (R_k - R_{k-1}) over the
// distinct predicted levels, highest first, as in scikit-learn. It is NaN if no
// gold level reaches the threshold.
func (c *confusion) averagePrecision(threshold int) float64 {
	area, found, taken := 0.0, 0.0, 0.0
	for level := c.levels - 1; level >= noLevel; level-- {
		before := found
		for gold := range c.levels {
			n := c.at(gold, level)
			taken += n
			if gold >= threshold {
				found += n
			}
		}
		if taken > 0 {
			area += found / taken * (found - before)
		}
	}
	return area / found
}
