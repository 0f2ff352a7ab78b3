package cafes

import (
	"math/rand/v2"
	"strings"
)

// newReviews writes six to ten short reviews by different people. What a
// review mentions it praises or at least had: no text names a topic only to
// say that it was missing, so a mention is never in doubt.
func newReviews(rng *rand.Rand, reviewers []string) []review {
	n := weighted(rng, []int{6, 7, 8, 9, 10}, 80, 10, 5, 3, 2)
	topics := someOf(rng, Topics(), n, n)
	var all []review
	for i, author := range someOf(rng, reviewers, n, n) {
		r := review{Author: author, Stars: weighted(rng, []int{1, 2, 3, 4, 5}, 5, 10, 20, 35, 30), Date: newDate(rng)}
		switch mentions := rng.IntN(100); {
		case mentions < 12:
			r.Text = pick(rng, lexicon().Asides)
		case mentions < 24: // two of the topics, one of them again
			r.Text = praise(rng, r.Stars, topics[i]) + " " + praise(rng, r.Stars, topics[(i+1)%n])
		case mentions < 72:
			r.Text = praise(rng, r.Stars, topics[i])
		default:
			r.Text = praise(rng, r.Stars, topics[i]) + " " + pick(rng, lexicon().Asides)
		}
		all = append(all, r)
	}
	return all
}

// praise is a sentence that mentions topic.
func praise(rng *rand.Rand, stars int, topic string) string {
	sentences := []string{
		"Loved the {}.", "Came for the {}.", "Great {}!", "The {} won me over.", "Top marks for the {}.",
		"Still dreaming of the {}.", "Do not miss the {}.", "Big fan of the {}.", "Happy about the {}.",
		"I tell everyone about the {}.", "{} done right.", "Word is out: {}.",
	}
	if stars < 4 {
		sentences = []string{
			"At least they do {} right.", "Only the {} saved the day.", "Good {}, little else.",
			"Fine {}, slow staff.", "The {} could use a better host.", "{}: yes. Service: no.",
		}
	}
	text := strings.Replace(pick(rng, sentences), "{}", topic, 1)
	return strings.ToUpper(text[:1]) + text[1:]
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }
