package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// foreground is what a signal stops: the statement that runs at the moment.
type foreground struct {
	mu    sync.Mutex
	stop  func() // in order; nil when nothing runs
	kill  func() // at once
	count int    // of interrupts that came for it
	early bool   // an interrupt came while nothing ran: it is for what begins next
	over  bool   // the shell ends: nothing begins any more

	signals chan os.Signal
	done    chan struct{}
	ended   sync.WaitGroup
}

// forget says that a new statement begins, for which no interrupt has come.
func (f *foreground) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count = 0
}

// expect says that interrupts that have come for nothing are over: those that come from now on are for what begins next.
func (f *foreground) expect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.early = false
}

// begin names what runs. What was begun before and has not ended is the same statement.
func (f *foreground) begin(stop, kill func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		f.count = 0
		if f.early {
			f.count, f.early = 1, false
		}
	}
	f.stop, f.kill = stop, kill
	if f.count > 0 || f.over {
		stop() // it came too early
	}
}

func (f *foreground) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop, f.kill = nil, nil
}

// interrupted reports whether the statement that was begun last was interrupted.
func (f *foreground) interrupted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count > 0
}

// interrupt stops what runs: in order at first, at once when it comes again. It reports whether anything runs.
func (f *foreground) interrupt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		f.early = true
		return false
	}
	if f.count++; f.count == 1 {
		f.stop()
	} else {
		f.kill()
	}
	return true
}

// settle says that the shell ends, and waits until what ran has given back the terminal, though not for ever.
func (f *foreground) settle() {
	for range 500 {
		f.mu.Lock()
		f.over = true
		running := f.stop != nil
		f.mu.Unlock()
		if !running {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// blockWhenOver blocks for ever where the shell ends, so that nobody else takes the terminal.
func (f *foreground) blockWhenOver() {
	f.mu.Lock()
	over := f.over
	f.mu.Unlock()
	if over {
		select {}
	}
}

func (f *foreground) unwatch() {
	signal.Stop(f.signals)
	close(f.done)
	f.ended.Wait()
}

// program runs a pager or an editor. A Ctrl-C that is typed meanwhile is its own.
func (f *foreground) program(cmd *exec.Cmd) error {
	defer f.expect()
	return cmd.Run()
}

// watch has signals stop what runs. Ctrl-C while nothing does ends a run without a terminal; SIGTERM and SIGHUP end
// every run, all jobs in order first.
func (s *shell) watch() {
	f := &s.front
	f.signals, f.done = make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(f.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	f.ended.Go(func() {
		for {
			select {
			case <-f.done:
				return
			case sig := <-f.signals:
				ran := f.interrupt()
				if sig == os.Interrupt && (ran || s.interactive) {
					continue
				}
				s.held.release() // jobs that write may wait for it
				s.front.settle()
				s.jobs.stopAll()
				s.guard.Restore()
				s.guard.Dismiss()
				os.Exit(exitInterrupted)
			}
		}
	})
}

// heldWriter holds back what is written while somebody types or something else has the screen, so that it doesn't run
// into that.
type heldWriter struct {
	w  io.Writer
	as *heldWriter // holds while that one does; nil for itself

	mu      sync.Mutex
	free    sync.Cond // signalled when nothing is held
	holding bool
	held    bytes.Buffer
}

// maxHeld is how much may be held. Whoever writes more waits until it is shown.
const maxHeld = 1 << 20

func (h *heldWriter) Write(p []byte) (int, error) {
	if h.as != nil {
		return h.as.writeTo(h.w, p)
	}
	return h.writeTo(h.w, p)
}

func (h *heldWriter) writeTo(w io.Writer, p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free.L == nil {
		h.free.L = &h.mu
	}
	for h.holding && h.held.Len() > maxHeld {
		h.free.Wait()
	}
	if h.holding {
		return h.held.Write(p)
	}
	return w.Write(p)
}

// hold begins to hold.
func (h *heldWriter) hold() {
	h.mu.Lock()
	h.holding = true
	h.mu.Unlock()
}

// during holds while do runs.
func (h *heldWriter) during(do func() error) error {
	h.hold()
	defer h.release()
	return do()
}

// release writes what was held, and ends to hold.
func (h *heldWriter) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holding = false
	_, _ = h.w.Write(h.held.Bytes()) // a terminal that is gone is noticed by whoever reads it
	h.held.Reset()
	if h.free.L != nil {
		h.free.Broadcast()
	}
}
