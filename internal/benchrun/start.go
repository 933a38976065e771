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

// startup is how long the example takes from the start of the process to its
// first row.
type startup struct {
	median, slowest time.Duration
}

// changeLine is a row of a printed changelog.
var changeLine = regexp.MustCompile(`[+-][IUD]\[`)

func (b *bench) measureStart(ctx context.Context) (*startup, error) {
	example := filepath.Join(b.root, "examples", "users-domains")
	args := []string{"run", "--embed", filepath.Join(example, "events.jsonl"), filepath.Join(example, "pipeline.sql")}
	var times []time.Duration
	for range startRuns {
		d, err := b.firstRow(ctx, args)
		if err != nil {
			return nil, err
		}
		times = append(times, d)
	}
	slices.Sort(times)
	s := &startup{median(times), times[len(times)-1]}
	b.log("start to first row of the example: median %v, slowest %v", s.median, s.slowest)
	return s, nil
}

// firstRow runs the binary until it prints a row, and ends it.
func (b *bench) firstRow(ctx context.Context, args []string) (time.Duration, error) {
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
			if !seen && changeLine.Match(lines.Bytes()) {
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
		<-waited // however it ended: the row was printed
		<-ended
		return d, nil
	case <-waited:
		<-ended
		select {
		case d := <-first:
			return d, nil
		default:
			return 0, errors.Join(fmt.Errorf("%v ended before it printed a row", args), waitErr)
		}
	}
}
