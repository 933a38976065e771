package main

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

// output is standard output. It remembers whether its reader has gone away.
type output struct {
	file   *os.File
	closed atomic.Bool
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.closed.Store(true)
	}
	return n, err
}

// answers are what a command says that runs no job. A reader who goes away has seen enough: the rest is dropped, and the
// command ends as if it had been read. The first write that fails otherwise is remembered, since not all who write look.
type answers struct {
	output
	err error
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.output.Write(p)
	switch {
	case err == nil:
	case a.closed.Load():
		return len(p), nil
	case a.err == nil:
		a.err = &failure{exitFailed, err}
	}
	return n, a.err
}
