package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// startRuns is the number of starts; they are short, so there are many.
const startRuns = 11

// started is how long a command takes from the start of its process to its first result.
type started struct {
	what            string // the result
	median, slowest time.Duration
}

// changeLine is a row of a printed changelog.
var changeLine = regexp.MustCompile(`[+-][IUD]\[`)

// measureStart measures the example, and what a newcomer does in an empty folder.
func (b *bench) measureStart(ctx context.Context) ([]started, error) {
	example := filepath.Join(b.root, "examples", "users-domains")
	times := make([][]time.Duration, len(starts))
	for i := range startRuns {
		demo := filepath.Join(b.dir, fmt.Sprintf("demo-%d", i))
		for j, s := range starts {
			d, err := b.firstResult(ctx, s.result, s.args(example, demo))
			if err != nil {
				return nil, err
			}
			times[j] = append(times[j], d)
		}
	}
	out := make([]started, len(starts))
	for j, s := range starts {
		slices.Sort(times[j])
		out[j] = started{s.what, median(times[j]), times[j][startRuns-1]}
		b.log("start to %s: median %v, slowest %v", s.what, out[j].median, out[j].slowest)
	}
	return out, nil
}

// starts are the commands that measureStart runs, in this order.
var starts = []struct {
	what   string
	result *regexp.Regexp // a line of the output
	args   func(example, demo string) []string
}{
	{"the first row of `examples/users-domains`", changeLine, func(example, _ string) []string {
		return []string{"run", "--embed", filepath.Join(example, "events.jsonl"), filepath.Join(example, "pipeline.sql")}
	}},
	{"the last file of `sluice init demo`", regexp.MustCompile(`^now: `), func(_, demo string) []string { return []string{"init", demo} }},
	{"the result of `sluice test demo`", regexp.MustCompile(`^ok `), func(_, demo string) []string { return []string{"test", demo} }},
	{"the first row of `sluice run demo`", changeLine, func(_, demo string) []string { return []string{"run", demo} }},
}

// firstResult runs the binary until it prints such a line, and ends it.
func (b *bench) firstResult(ctx context.Context, result *regexp.Regexp, args []string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, in := io.Pipe()
	c, err := b.startChild(ctx, in, args...)
	if err != nil {
		return 0, err
	}
	// The reader goes on to the end of the output, or the child would block on it;
	// closing the pipe after the child has ended ends the reader.
	first := make(chan time.Duration, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for seen := false; lines.Scan(); {
			if !seen && result.Match(lines.Bytes()) {
				first <- time.Since(c.started)
				seen = true
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	var waitErr error
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_, waitErr = c.wait()
		_ = in.Close()
	}()
	select {
	case d := <-first:
		cancel() // interrupts a child that has not ended by itself
		<-waited // however it ended: the line was printed
		<-ended
		return d, nil
	case <-waited:
		<-ended
		select {
		case d := <-first:
			return d, nil
		default:
			return 0, errors.Join(fmt.Errorf("%v ended before it printed a result", args), waitErr)
		}
	}
}
