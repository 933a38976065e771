package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"
)

// profiles are the flags that write profiles for go tool pprof and go tool trace.
type profiles struct {
	cpu, memory, trace string
}

func (p *profiles) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`, for go tool pprof")
	flags.StringVar(&p.memory, "memprofile", "", "write a profile of the Go heap to `FILE` at the end")
	flags.StringVar(&p.trace, "trace", "", "write an execution trace to `FILE`, for go tool trace")
}

// start begins what the flags ask for; stop ends it and writes the files.
func (p *profiles) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	begin := func(file string, start func(*os.File) error, end func()) error {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		if err := start(f); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", file, err), f.Close())
		}
		stops = append(stops, func() error { end(); return f.Close() })
		return nil
	}
	if p.cpu != "" {
		err = begin(p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, pprof.StopCPUProfile)
	}
	if p.trace != "" && err == nil {
		err = begin(p.trace, func(f *os.File) error { return trace.Start(f) }, trace.Stop)
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	if p.memory != "" {
		stops = append(stops, p.writeMemory)
	}
	return stop, nil
}

func (p *profiles) writeMemory() error {
	f, err := os.Create(p.memory)
	if err != nil {
		return err
	}
	runtime.GC() // so that the profile shows what is in use now
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
