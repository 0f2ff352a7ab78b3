// Package generalanot is General ANoT: a method that turns a task in words into
// a computation, and carries that out on data.
//
// The task is compiled once into a [FormulaSeed], by a model, and the seed is
// kept in the store. It is then carried out for one context after the other:
// FILTER picks reviews by keyword or by meaning, EXTRACT has a model fill in a
// few fields for each of them, COMPUTE evaluates Python expressions over what
// was filled in (see package pyexpr). So a model reads text, and arithmetic is
// left to a machine.
//
// # What it answers
//
// Fields: a policy over the reviews of a restaurant. The context needs a list
// "reviews". One seed serves all restaurants: compiling shows no data.
//
// Rankings: a request for the best of the list "items". Compiling shows the
// request, the paths and frequent values of the items' data, and two items cut
// short. The seed is run for each item: formulas read the item itself, as
// item['attributes']['WiFi'], and the rest of the context, as
// context['friends'], without a model; only what must be read from texts is
// extracted from the item's reviews. The step score ranks, higher first. A
// score that is not a finite number (True counts as 1) is undefined, and the
// item ranks last. Equal scores are ordered by the step tie_break, if the seed
// has one, and what is equal after that by a draw from the trial's seed, so
// that no position is favoured; such ties are events of the kind [Tied] and
// part of the evidence. The seed depends on what the items are, not on their
// order, so that a request is compiled once for all epochs.
//
// Choices: a question with labels. The step verdict is the answer. Texts are
// the reviews of the list "items", else the list "reviews" or "paragraphs",
// else all texts of the context as one, else the question. Compiling shows the
// question and the paths of the data, no values. A context that is not a JSON
// object, or a problem with fewer than two labels, is refused.
//
// # Source
//
// Seed 001. Differs: keywords match whole words; an extraction that fails is
// left out and counted instead of being replaced by a default; a formula that
// fails makes its value undefined, not 0; a seed is validated before it is
// used, and everything wrong with it goes back to the model. Rankings and
// choices are ours. The three steps of the seed's files (option compile=three)
// are structure, extraction and computation, as METHODS names them; each is
// validated by itself. Several passes of extraction (option passes) are the
// seed's future consideration: the first is greedy, the others are drawn at a
// temperature, the majority decides, and ties go to the earliest pass.
package generalanot
