package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluicesql/sluice/internal/fault"
	"github.com/sluicesql/sluice/internal/near"
)

// choice is the value of a flag that is one of several words.
type choice struct {
	flag  string // with its dashes
	value *string
	words []string
}

// addChoice adds a flag that takes one of the words, in any case. Its usage has %s for them; preset may be empty.
func addChoice(flags *pflag.FlagSet, value *string, name, preset, usage string, words ...string) {
	*value = preset
	flags.Var(&choice{"--" + name, value, words}, name, fmt.Sprintf(usage, "`"+strings.Join(words, "|")+"`"))
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "string" }

func (c *choice) Set(word string) (err error) {
	*c.value, err = choose(c.flag, word, c.words)
	return err
}

// choose finds the one of several words that is written, in any case. Its error says what it is a word of.
func choose(of, word string, words []string) (string, error) {
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return w, nil
		}
	}
	last := len(words) - 1
	err := fault.Errorf(fault.CommandLine, "%s %s: it is %s or %s", of, word, strings.Join(words[:last], ", "), words[last])
	if known := near.Name(word, words); known != "" {
		err = err.Fix("did you mean %s?", known)
	}
	return "", wrong(err)
}
