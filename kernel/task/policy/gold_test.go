package policy

import (
	"math/big"
	"strconv"
)

// byHand computes the primitives and the verdict of a policy by rules written out
// by hand: a second statement of each policy, which finds an error in the first.
func byHand(policy string, reviews []Review) map[string]any {
	values, _, verdict := map[string]func(tally) (map[string]float64, float64, string){
		"allergy":       allergyGold,
		"hygiene":       hygieneGold,
		"service":       serviceGold,
		"value":         valueGold,
		"accessibility": accessibilityGold,
		"noise":         noiseGold,
	}[policy](reviews)
	out := map[string]any{"verdict": verdict}
	for name, v := range values {
		out[name] = v
	}
	return out
}

// tally counts reviews.
type tally []Review

// count counts the reviews that have all the labels, given as field, value,
// field, value and so on.
func (t tally) count(pairs ...string) float64 { return float64(len(t.with(pairs...))) }

func (t tally) with(pairs ...string) tally {
	var out tally
next:
	for _, f := range t {
		for i := 0; i < len(pairs); i += 2 {
			if f.Labels[pairs[i]] != pairs[i+1] {
				continue next
			}
		}
		out = append(out, f)
	}
	return out
}

// hundredths is a/b rounded to two decimals, half to even in the decimal
// expansion of the quotient as a float; 0 if b is 0.
func hundredths(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	exact := new(big.Float).SetMode(big.ToNearestEven).SetFloat64(a / b)
	v, err := strconv.ParseFloat(exact.Text('f', 2), 64)
	if err != nil { // what was formatted always parses
		panic(err)
	}
	return v
}

// level is which of the three a score is in.
func level(score, second, third float64, labels ...string) string {
	if score >= third {
		return labels[2]
	}
	if score >= second {
		return labels[1]
	}
	return labels[0]
}

func allergyGold(t tally) (map[string]float64, float64, string) {
	mine := t.with("account_type", "firsthand")
	mild, moderate, severe := mine.count("incident_severity", "mild"), mine.count("incident_severity", "moderate"), mine.count("incident_severity", "severe")
	positive, betrayal := t.count("safety_interaction", "positive"), t.count("safety_interaction", "betrayal")
	points := 2*mild + 5*moderate + 15*severe
	latest := 0
	for _, f := range mine {
		latest = max(latest, f.Year)
	}
	recency := 0.5
	if latest >= 2023 {
		recency = 1
	} else if latest >= 2021 {
		recency = 0.75
	}
	trust := 1.0
	if betrayal >= 2 {
		trust = 1.5
	} else if betrayal == 1 {
		trust = 1.25
	}
	raw := points * recency * trust
	final := max(0, min(20, raw-positive/2))
	return map[string]float64{
		"n_mild": mild, "n_moderate": moderate, "n_severe": severe, "n_total_incidents": mild + moderate + severe,
		"n_positive": positive, "n_betrayal": betrayal, "incident_score": points, "latest_incident_year": float64(latest),
		"recency_factor": recency, "betrayal_factor": trust, "raw_risk": raw, "final_risk_score": final,
	}, final, level(final, 4, 8, "Low Risk", "High Risk", "Critical Risk")
}

func hygieneGold(t tally) (map[string]float64, float64, string) {
	seen := t.with("evidence", "seen")
	minor, serious, critical := seen.count("hygiene_issue", "minor"), seen.count("hygiene_issue", "serious"), seen.count("hygiene_issue", "critical")
	reported := t.count("hygiene_issue", "serious", "evidence", "reported") + t.count("hygiene_issue", "critical", "evidence", "reported")
	ignored := t.count("staff_response", "ignored")
	recent := 0.0
	for _, f := range seen {
		switch {
		case f.Labels["hygiene_issue"] == "minor":
		case f.Year >= 2023:
			recent++
		case f.Year >= 2021:
			recent += 0.5
		default:
			recent += 0.25
		}
	}
	points := minor + 4*serious + 10*critical + reported/2
	neglect := 1.0
	if ignored >= 2 {
		neglect = 1.5
	}
	risk := points*neglect + 2*recent
	return map[string]float64{
		"n_minor": minor, "n_serious": serious, "n_critical": critical, "n_reported": reported, "n_ignored": ignored,
		"recent_weight": recent, "severity_points": points, "neglect_factor": neglect, "neglect_points": points * neglect, "hygiene_risk": risk,
	}, risk, level(risk, 6, 18, "Clean", "Questionable", "Unsafe")
}

func serviceGold(t tally) (map[string]float64, float64, string) {
	mine := t.with("witness", "own")
	slow, wrong, rude := mine.count("service_failure", "slow"), mine.count("service_failure", "wrong_order"), mine.count("service_failure", "rude")
	failures := float64(len(mine))
	recovered := mine.count("recovery", "apology") + mine.count("recovery", "compensation")
	dismissed := t.count("recovery", "dismissal")
	rate := hundredths(recovered, failures)
	stars := 0
	for _, f := range mine {
		stars += f.Stars
	}
	load := slow + 2*wrong + 3*rude + 2*dismissed
	loss := max(0, load-4*rate)
	return map[string]float64{
		"n_slow": slow, "n_wrong_order": wrong, "n_rude": rude, "n_failures": failures, "n_recovered": recovered,
		"n_dismissed": dismissed, "recovery_rate": rate, "failure_stars": hundredths(float64(stars), failures),
		"complaint_load": load, "service_loss": loss,
	}, loss, level(loss, 5, 12, "Dependable", "Uneven", "Poor")
}

func valueGold(t tally) (map[string]float64, float64, string) {
	paid := t.with("basis", "paid")
	dear := paid.with("price_signal", "overpriced")
	bargain, fair, over := paid.count("price_signal", "bargain"), paid.count("price_signal", "fair"), float64(len(dear))
	hidden := t.count("extra_charge", "hidden")
	share := hundredths(over, bargain+fair+over)
	votes := 0
	for _, f := range dear {
		votes += min(4, f.Useful)
	}
	pressure := max(0, 3*over+2*hidden-bargain)
	gap := min(40, pressure+5*share+float64(votes)/2)
	return map[string]float64{
		"n_bargain": bargain, "n_fair": fair, "n_overpriced": over, "n_hidden": hidden, "n_priced": bargain + fair + over,
		"overpriced_share": share, "helpful_complaints": float64(votes), "price_pressure": pressure, "value_gap": gap,
	}, gap, level(gap, 6, 15, "Good Value", "Fair Value", "Poor Value")
}

func accessibilityGold(t tally) (map[string]float64, float64, string) {
	met := t.with("experience", "met")
	awkward, difficult, shut := met.count("barrier", "inconvenient"), met.count("barrier", "difficult"), met.count("barrier", "impassable")
	recent := 0.0
	for _, f := range met {
		if f.Year > 2022 {
			recent++
		}
	}
	helpful, refused := t.count("accommodation", "helpful"), t.count("accommodation", "refused")
	points := awkward + 3*difficult + 8*shut
	factor := 1.0
	if refused >= 3 {
		factor = 2
	} else if refused > 0 {
		factor = 1.5
	}
	score := max(0, min(50, points*factor+recent/2-helpful))
	return map[string]float64{
		"n_inconvenient": awkward, "n_difficult": difficult, "n_impassable": shut, "n_recent": recent, "n_helpful": helpful,
		"n_refused": refused, "barrier_points": points, "refusal_factor": factor, "access_cost": points * factor, "access_score": score,
	}, score, level(score, 5, 14, "Accessible", "Limited Access", "Not Accessible")
}

func noiseGold(t tally) (map[string]float64, float64, string) {
	there := t.with("presence", "there")
	quiet, lively, loud := there.count("noise_level", "quiet"), there.count("noise_level", "lively"), there.count("noise_level", "deafening")
	refused := t.count("table_change", "refused")
	share := hundredths(loud, quiet+lively+loud)
	angry, recent := 0.0, 0.0
	for _, f := range there {
		if f.Labels["noise_level"] != "quiet" && f.Stars <= 2 {
			angry++
		}
	}
	for _, f := range there.with("noise_level", "deafening") {
		if recent += 0.5; f.Year >= 2022 {
			recent += 0.5
		}
	}
	index := max(0, 3*recent+lively+angry+2*refused+4*share-quiet/2)
	return map[string]float64{
		"n_quiet": quiet, "n_lively": lively, "n_deafening": loud, "n_refused": refused, "n_reports": quiet + lively + loud,
		"loud_share": share, "n_angry": angry, "recent_noise": recent, "noise_index": index,
	}, index, level(index, 5, 12, "Calm", "Busy", "Too Loud")
}
