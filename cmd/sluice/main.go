// Command sluice keeps the results of SQL queries over changing tables up to date.
package main

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluicesql/sluice/cmd/sluice/internal/diag"
	"github.com/sluicesql/sluice/cmd/sluice/internal/termguard"
	"github.com/sluicesql/sluice/internal/fault"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // a job failed
	exitWrong       = 2 // the SQL, a flag or a file is wrong; nothing ran that was not right
	exitInterrupted = 130
)

// failure is an error with the exit code that it leads to. A nil err has nothing more to say.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return "interrupted"
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// wrong marks an error of the user's: exit code 2. What has no code is one of the command line.
func wrong(err error) error { return &failure{exitWrong, fault.Or(fault.CommandLine, inFile(err))} }

// inFile gives the errors of the file system their code.
func inFile(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fault.Or(fault.File, err)
	}
	return err
}

func main() {
	termguard.Serve()
	// A reader of our output that has gone away is an error of the write, not the process's sudden death: state
	// directories want to be closed.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(execute(os.Args[1:]))
}

// told is what is to be told of an error that a command ended with; nil for nothing.
func told(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		err = f.err
	}
	return inFile(err)
}

// execute runs one command line and returns the exit code.
func execute(args []string) int {
	sources := newSourceTexts()
	root := newRoot(sources)
	root.SetArgs(args)
	answers := &answers{output: output{file: os.Stdout}}
	root.SetOut(answers)
	err := root.Execute()
	if answers.err != nil {
		err = answers.err
	}
	if err == nil {
		return exitDone
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{exitWrong, fault.Or(fault.CommandLine, err)} // what cobra itself finds
	}
	if err = told(f); err == nil {
		return f.code
	}
	p := diag.Printer{Out: sources.secrets.Writer(os.Stderr), Color: colorful(os.Stderr), Source: sources.text}
	p.Print(err)
	return f.code
}
