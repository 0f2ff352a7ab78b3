package anot

// ParseStrategy is parseStrategy for items that are not labels.
func ParseStrategy(text string, n int) (*Strategy, error) { return parseStrategy(text, n, false) }
