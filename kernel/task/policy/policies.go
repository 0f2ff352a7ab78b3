package policy

func allergy() Policy {
	own := is("account_type", "firsthand")
	return Policy{
		Name:    "allergy",
		Title:   "Allergy safety policy",
		Purpose: "Judge how safe this restaurant is for guests with a food allergy",
		Fields: []Field{
			{"incident_severity", "how bad the allergic reaction to food of this restaurant was", []Value{
				{None, "no reaction is told of, it is denied, or it happened elsewhere"},
				{"mild", "itching, a rash or a tingling mouth"},
				{"moderate", "vomiting, swelling or a doctor's visit"},
				{"severe", "trouble breathing, an adrenaline pen or an ambulance"}}},
			{"account_type", "whose account the reaction is", []Value{
				{None, "no reaction is told of"},
				{"firsthand", "it happened to the writer"},
				{"secondhand", "it happened to somebody else, who told the writer"},
				{"hypothetical", "it is only feared or imagined"}}},
			{"safety_interaction", "how the staff dealt with an allergy", []Value{
				{None, "nothing is said of it"},
				{"positive", "they took it seriously"},
				{"negative", "they were careless or dismissive"},
				{"betrayal", "they promised safe food and served what was not"}}},
		},
		Terms: []Term{
			{"n_mild", Count{all(is("incident_severity", "mild"), own)}},
			{"n_moderate", Count{all(is("incident_severity", "moderate"), own)}},
			{"n_severe", Count{all(is("incident_severity", "severe"), own)}},
			{"n_total_incidents", sum("n_mild", "n_moderate", "n_severe")},
			{"n_positive", Count{all(is("safety_interaction", "positive"))}},
			{"n_betrayal", Count{all(is("safety_interaction", "betrayal"))}},
			{"incident_score", Linear{Parts: []Part{{2, "n_mild"}, {5, "n_moderate"}, {15, "n_severe"}}}},
			{"latest_incident_year", Latest{all(told("incident_severity"), own)}},
			{"recency_factor", Steps{"latest_incident_year", []Rung{{2023, 1}, {2021, 0.75}}, 0.5}},
			{"betrayal_factor", Steps{"n_betrayal", []Rung{{2, 1.5}, {1, 1.25}}, 1}},
			{"raw_risk", Product{[]string{"incident_score", "recency_factor", "betrayal_factor"}}},
			{"final_risk_score", Linear{Parts: []Part{{1, "raw_risk"}, {-0.5, "n_positive"}}, Low: to(0), High: to(20)}},
		},
		Verdict: Verdict{"final_risk_score", [2]float64{4, 8}, [3]string{"Low Risk", "High Risk", "Critical Risk"}},
	}
}

func hygiene() Policy {
	own := is("evidence", "seen")
	grave := is("hygiene_issue", "serious", "critical")
	return Policy{
		Name:    "hygiene",
		Title:   "Hygiene policy",
		Purpose: "Judge how clean this restaurant is",
		Fields: []Field{
			{"hygiene_issue", "what was unclean in this restaurant", []Value{
				{None, "nothing is told of, it is denied, or it was elsewhere"},
				{"minor", "sticky tables, smudged glasses and the like"},
				{"serious", "a hair in the food, a filthy washroom and the like"},
				{"critical", "vermin, raw poultry or food poisoning"}}},
			{"evidence", "how the writer knows", []Value{
				{None, "nothing unclean is told of"},
				{"seen", "the writer met with it"},
				{"reported", "somebody else told the writer"},
				{"suspected", "it is only feared or imagined"}}},
			{"staff_response", "what the staff did about dirt", []Value{
				{None, "nothing is said of it"},
				{"corrected", "they put it right"},
				{"ignored", "they did nothing"}}},
		},
		Terms: []Term{
			{"n_minor", Count{all(is("hygiene_issue", "minor"), own)}},
			{"n_serious", Count{all(is("hygiene_issue", "serious"), own)}},
			{"n_critical", Count{all(is("hygiene_issue", "critical"), own)}},
			{"n_reported", Count{all(grave, is("evidence", "reported"))}},
			{"n_ignored", Count{all(is("staff_response", "ignored"))}},
			{"recent_weight", ByYear{all(grave, own), []Age{{2023, 1}, {2021, 0.5}}, 0.25}},
			{"severity_points", Linear{Parts: []Part{{1, "n_minor"}, {4, "n_serious"}, {10, "n_critical"}, {0.5, "n_reported"}}}},
			{"neglect_factor", Steps{"n_ignored", []Rung{{2, 1.5}}, 1}},
			{"neglect_points", Product{[]string{"severity_points", "neglect_factor"}}},
			{"hygiene_risk", Linear{Parts: []Part{{1, "neglect_points"}, {2, "recent_weight"}}}},
		},
		Verdict: Verdict{"hygiene_risk", [2]float64{6, 18}, [3]string{"Clean", "Questionable", "Unsafe"}},
	}
}

func service() Policy {
	own := is("witness", "own")
	return Policy{
		Name:    "service",
		Title:   "Service policy",
		Purpose: "Judge how well this restaurant serves its guests",
		Fields: []Field{
			{"service_failure", "what went wrong with the service of this restaurant", []Value{
				{None, "nothing is told of, it is denied, or it was elsewhere"},
				{"slow", "a long wait"},
				{"wrong_order", "wrong or missing food, or a wrong bill"},
				{"rude", "staff who were rude"}}},
			{"witness", "whose experience it is", []Value{
				{None, "no failure is told of"},
				{"own", "the writer's own"},
				{"other", "somebody else's, who told the writer"},
				{"imagined", "it is only feared or imagined"}}},
			{"recovery", "what the house did to make up for it", []Value{
				{None, "nothing is said of it"},
				{"apology", "they said sorry"},
				{"compensation", "they took something off the bill or gave something"},
				{"dismissal", "they would not hear of it"}}},
		},
		Terms: []Term{
			{"n_slow", Count{all(is("service_failure", "slow"), own)}},
			{"n_wrong_order", Count{all(is("service_failure", "wrong_order"), own)}},
			{"n_rude", Count{all(is("service_failure", "rude"), own)}},
			{"n_failures", sum("n_slow", "n_wrong_order", "n_rude")},
			{"n_recovered", Count{all(told("service_failure"), own, is("recovery", "apology", "compensation"))}},
			{"n_dismissed", Count{all(is("recovery", "dismissal"))}},
			{"recovery_rate", Ratio{"n_recovered", "n_failures"}},
			{"failure_stars", Average{all(told("service_failure"), own)}},
			{"complaint_load", Linear{Parts: []Part{{1, "n_slow"}, {2, "n_wrong_order"}, {3, "n_rude"}, {2, "n_dismissed"}}}},
			{"service_loss", Linear{Parts: []Part{{1, "complaint_load"}, {-4, "recovery_rate"}}, Low: to(0)}},
		},
		Verdict: Verdict{"service_loss", [2]float64{5, 12}, [3]string{"Dependable", "Uneven", "Poor"}},
	}
}

func value() Policy {
	own := is("basis", "paid")
	return Policy{
		Name:    "value",
		Title:   "Value policy",
		Purpose: "Judge whether this restaurant is worth its prices",
		Fields: []Field{
			{"price_signal", "how the prices of this restaurant were", []Value{
				{None, "nothing is told of them, or they were another house's"},
				{"bargain", "low for what was given"},
				{"fair", "in order"},
				{"overpriced", "high for what was given"}}},
			{"basis", "how the writer knows", []Value{
				{None, "no prices are told of"},
				{"paid", "the writer paid them"},
				{"heard", "somebody else paid them and told the writer"},
				{"guessed", "they are only feared or imagined"}}},
			{"extra_charge", "charges that the menu does not show", []Value{
				{None, "nothing is said of any"},
				{"announced", "they were told before ordering"},
				{"hidden", "they came as a surprise"}}},
		},
		Terms: []Term{
			{"n_bargain", Count{all(is("price_signal", "bargain"), own)}},
			{"n_fair", Count{all(is("price_signal", "fair"), own)}},
			{"n_overpriced", Count{all(is("price_signal", "overpriced"), own)}},
			{"n_hidden", Count{all(is("extra_charge", "hidden"))}},
			{"n_priced", sum("n_bargain", "n_fair", "n_overpriced")},
			{"overpriced_share", Ratio{"n_overpriced", "n_priced"}},
			{"helpful_complaints", Votes{all(is("price_signal", "overpriced"), own), 4}},
			{"price_pressure", Linear{Parts: []Part{{3, "n_overpriced"}, {2, "n_hidden"}, {-1, "n_bargain"}}, Low: to(0)}},
			{"value_gap", Linear{Parts: []Part{{1, "price_pressure"}, {5, "overpriced_share"}, {0.5, "helpful_complaints"}}, High: to(40)}},
		},
		Verdict: Verdict{"value_gap", [2]float64{6, 15}, [3]string{"Good Value", "Fair Value", "Poor Value"}},
	}
}

func accessibility() Policy {
	own := is("experience", "met")
	return Policy{
		Name:    "accessibility",
		Title:   "Accessibility policy",
		Purpose: "Judge how well guests with a disability can use this restaurant",
		Fields: []Field{
			{"barrier", "what stood in the way in this restaurant", []Value{
				{None, "nothing is told of, it is denied, or it was elsewhere"},
				{"inconvenient", "tight, dim or awkward, but it worked"},
				{"difficult", "help was needed"},
				{"impassable", "there was no getting in or through"}}},
			{"experience", "how the writer knows", []Value{
				{None, "no barrier is told of"},
				{"met", "the writer met with it"},
				{"retold", "somebody else told the writer"},
				{"assumed", "it is only feared or imagined"}}},
			{"accommodation", "what the staff did for a guest with a disability", []Value{
				{None, "nothing is said of it"},
				{"helpful", "they helped"},
				{"indifferent", "they looked on"},
				{"refused", "they turned the guest away or would not help"}}},
		},
		Terms: []Term{
			{"n_inconvenient", Count{all(is("barrier", "inconvenient"), own)}},
			{"n_difficult", Count{all(is("barrier", "difficult"), own)}},
			{"n_impassable", Count{all(is("barrier", "impassable"), own)}},
			{"n_recent", Count{all(told("barrier"), own).since(2023)}},
			{"n_helpful", Count{all(is("accommodation", "helpful"))}},
			{"n_refused", Count{all(is("accommodation", "refused"))}},
			{"barrier_points", Linear{Parts: []Part{{1, "n_inconvenient"}, {3, "n_difficult"}, {8, "n_impassable"}}}},
			{"refusal_factor", Steps{"n_refused", []Rung{{3, 2}, {1, 1.5}}, 1}},
			{"access_cost", Product{[]string{"barrier_points", "refusal_factor"}}},
			{"access_score", Linear{Parts: []Part{{1, "access_cost"}, {0.5, "n_recent"}, {-1, "n_helpful"}}, Low: to(0), High: to(50)}},
		},
		Verdict: Verdict{"access_score", [2]float64{5, 14}, [3]string{"Accessible", "Limited Access", "Not Accessible"}},
	}
}

func noise() Policy {
	own := is("presence", "there")
	return Policy{
		Name:    "noise",
		Title:   "Noise policy",
		Purpose: "Judge how loud an evening in this restaurant is",
		Fields: []Field{
			{"noise_level", "how loud this restaurant was", []Value{
				{None, "nothing is told of it, or it was another house"},
				{"quiet", "talking was easy"},
				{"lively", "talking took some effort"},
				{"deafening", "talking was not possible"}}},
			{"presence", "how the writer knows", []Value{
				{None, "no noise level is told of"},
				{"there", "the writer heard it"},
				{"told", "somebody else told the writer"},
				{"supposed", "it is only feared or imagined"}}},
			{"table_change", "what came of asking for another table", []Value{
				{None, "nothing is said of it"},
				{"moved", "the guest was moved"},
				{"refused", "the guest was not"}}},
		},
		Terms: []Term{
			{"n_quiet", Count{all(is("noise_level", "quiet"), own)}},
			{"n_lively", Count{all(is("noise_level", "lively"), own)}},
			{"n_deafening", Count{all(is("noise_level", "deafening"), own)}},
			{"n_refused", Count{all(is("table_change", "refused"))}},
			{"n_reports", sum("n_quiet", "n_lively", "n_deafening")},
			{"loud_share", Ratio{"n_deafening", "n_reports"}},
			{"n_angry", Count{Where{Tests: []Test{is("noise_level", "lively", "deafening"), own}, AtMost: 2}}},
			{"recent_noise", ByYear{all(is("noise_level", "deafening"), own), []Age{{2022, 1}}, 0.5}},
			{"noise_index", Linear{Parts: []Part{{3, "recent_noise"}, {1, "n_lively"}, {1, "n_angry"}, {2, "n_refused"}, {4, "loud_share"}, {-0.5, "n_quiet"}}, Low: to(0)}},
		},
		Verdict: Verdict{"noise_index", [2]float64{5, 12}, [3]string{"Calm", "Busy", "Too Loud"}},
	}
}

// sum is the plain sum of primitives.
func sum(names ...string) Linear {
	var f Linear
	for _, n := range names {
		f.Parts = append(f.Parts, Part{1, n})
	}
	return f
}

// to is a bound.
func to(x float64) *float64 { return &x }
