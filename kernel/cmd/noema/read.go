package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"noema/methods"
	"noema/plugins"
)

// readCommand is for programs in other languages that read replies of their own. It needs no
// store, settings or home.
func readCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "read", Short: "read answers in replies, for other programs", Hidden: true, Args: cobra.NoArgs,
		Long: `Reads lines of JSON from standard input, each a reply and the answer that is wanted, and
prints a line for each: the answer's value, as JSON within a text, its outcome, and the
reason where it is not "answered"; or an error.`,
		Example:           `  noema read`,
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, _ []string) error {
			for {
				line, err := a.stdin.line(cmd.Context())
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err == nil {
					err = json.NewEncoder(a.stdout).Encode(readOne(line))
				}
				if err != nil {
					return err
				}
			}
		},
	}
}

// readOne is the answer to a line.
func readOne(line string) map[string]string {
	var asked struct {
		Text string
		Cut  bool
		methods.AnswerSpec
	}
	err := json.Unmarshal([]byte(line), &asked)
	if err != nil {
		return map[string]string{"error": fmt.Sprintf("read answer: the line is not a question in JSON: %v", err)}
	}
	answer, err := plugins.ReadAnswer(asked.Text, asked.Cut, asked.AnswerSpec)
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	return map[string]string{"value": string(answer.Value), "outcome": string(answer.Outcome), "reason": answer.Reason}
}
