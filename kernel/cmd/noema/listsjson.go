package main

import (
	"noema/methods"
	"noema/plugins"
)

// What the verbs that list print with --json. Fields may be added; see "noema schema".

// optionJSON is one option of a task, a method or a model.
type optionJSON struct {
	Name    string             `json:"name"`
	Type    methods.OptionType `json:"type,omitempty"`
	Default string             `json:"default,omitempty"` // as it is typed
	Choices []string           `json:"choices,omitempty"`
	Doc     string             `json:"doc"`
}

// entryJSON is a task, or a form in which models or tasks of one's own are written.
type entryJSON struct {
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Form    bool         `json:"form"` // the name stands for many, as openai/NAME
	Options []optionJSON `json:"options,omitempty"`
}

// methodJSON is a method.
type methodJSON struct {
	Name          string               `json:"name"`
	Version       string               `json:"version"`
	PromptVersion string               `json:"prompt_version,omitempty"`
	Summary       string               `json:"summary"`
	Builtin       bool                 `json:"builtin"`
	Path          string               `json:"path,omitempty"`    // of its code, unless it is built in
	Answers       []methods.AnswerKind `json:"answers,omitempty"` // none means all kinds
	Tools         []string             `json:"tools,omitempty"`
	Options       []optionJSON         `json:"options,omitempty"`
}

// modelsJSON are the models that --model takes.
type modelsJSON struct {
	Forms []entryJSON      `json:"forms"`
	Local []localModelJSON `json:"local"` // on this machine
}

// localModelJSON is a model on this machine.
type localModelJSON struct {
	Name    string `json:"name"` // as --model takes it
	Format  string `json:"format"`
	Bytes   int64  `json:"bytes"`
	Version string `json:"version"`
	Path    string `json:"path"`
}

// versionJSON is the build, and where it works.
type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Changed  bool   `json:"changed"` // it was built with changes beside the commit
	Go       string `json:"go"`
	Platform string `json:"platform"` // as linux/amd64
	Home     string `json:"home"`     // the folder of the store
}

// findingJSON is what doctor found.
type findingJSON struct {
	State  string `json:"state"` // ok, note or fail
	Check  string `json:"check"`
	Detail string `json:"detail"`
}

func optionsJSON(options []methods.Option) []optionJSON {
	var out []optionJSON
	for _, o := range options {
		out = append(out, optionJSON(o))
	}
	return out
}

func methodOf(src plugins.Source, d methods.Description) methodJSON {
	m := methodJSON{
		Name: src.Name, Version: d.Version, PromptVersion: d.PromptVersion, Summary: d.Summary, Builtin: src.Builtin,
		Answers: d.Answers, Tools: d.Tools, Options: optionsJSON(d.Options),
	}
	if !src.Builtin {
		m.Path = src.Path
	}
	return m
}
