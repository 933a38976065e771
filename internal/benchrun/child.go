package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopPatience is how long a child may take to end after it was interrupted.
const stopPatience = 30 * time.Second

// child is a run of the binary.
type child struct {
	cmd     *exec.Cmd
	started time.Time
	stderr  *bytes.Buffer
	rss     rssSampler
}

// startChild runs the binary. When ctx ends it is interrupted, and killed if that
// does not help.
func (b *bench) startChild(ctx context.Context, stdout io.Writer, args ...string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, b.sluice, args...), stderr: &bytes.Buffer{}}
	c.cmd.Dir = b.root
	c.cmd.Stdout, c.cmd.Stderr = stdout, c.stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	c.cmd.WaitDelay = stopPatience
	c.started = time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start sluice: %w", err)
	}
	c.rss.start(c.cmd.Process.Pid)
	return c, nil
}

// interrupt asks the child to end in an orderly way.
func (c *child) interrupt() error {
	return c.cmd.Process.Signal(os.Interrupt)
}

// finished is what is known of a run that ended well.
type finished struct {
	elapsed time.Duration // from before the start until after the exit
	cpu     time.Duration // of the processor
	peak    int64         // resident bytes
	stderr  string
}

// wait waits for the child to exit; another exit code than 0 is an error that
// shows what it said.
func (c *child) wait() (finished, error) {
	err := c.cmd.Wait()
	elapsed := time.Since(c.started)
	peak := max(c.rss.stop(), rusagePeak(c.cmd.ProcessState))
	f := finished{elapsed: elapsed, cpu: c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime(), peak: peak, stderr: c.stderr.String()}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(f.stderr), "\n")
		return f, fmt.Errorf("%s: %w\n%s", strings.Join(c.cmd.Args, " "), err, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return f, nil
}

// runChild runs the binary to its end.
func (b *bench) runChild(ctx context.Context, args ...string) (finished, error) {
	c, err := b.startChild(ctx, io.Discard, args...)
	if err != nil {
		return finished{}, err
	}
	return c.wait()
}

// rssSampler reads the kernel's high-water mark of a process until the process
// ends. The mark only grows, so the last sample is the peak, but for what happened
// in the last interval.
type rssSampler struct {
	quit chan struct{}
	done sync.WaitGroup
	peak int64
}

const rssInterval = 20 * time.Millisecond

func (s *rssSampler) start(pid int) {
	s.quit = make(chan struct{})
	s.done.Go(func() {
		for {
			if hwm, err := highWaterMark(pid); err == nil {
				s.peak = max(s.peak, hwm)
			}
			select {
			case <-s.quit:
				return
			case <-time.After(rssInterval):
			}
		}
	})
}

// stop ends the sampling and returns the peak, 0 where the kernel does not tell.
func (s *rssSampler) stop() int64 {
	close(s.quit)
	s.done.Wait()
	return s.peak
}

// highWaterMark is VmHWM of a process, on Linux.
func highWaterMark(pid int) (int64, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("no VmHWM") // a process that has exited
}

// rusagePeak is the peak that the kernel reports at exit, or 0 when it may be
// another's: Linux starts a child's count at what its parent had when it forked,
// so a value that this process may have had itself says nothing.
func rusagePeak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	peak := usage.Maxrss
	if runtime.GOOS == "linux" {
		peak *= 1024
		if own, err := highWaterMark(os.Getpid()); err == nil && peak <= own {
			return 0
		}
	}
	return peak
}
