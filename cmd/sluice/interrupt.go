package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts watches for SIGINT and SIGTERM. The first asks for an orderly stop, the second ends the
// process at once.
type interrupts struct {
	signals chan os.Signal
	first   chan struct{} // closed by the first signal
	done    chan struct{}
	ended   sync.WaitGroup
}

// watchInterrupts starts to watch. notify is called at the first signal, in a goroutine of its own.
func watchInterrupts(notify func()) *interrupts {
	i := &interrupts{signals: make(chan os.Signal, 2), first: make(chan struct{}), done: make(chan struct{})}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	i.ended.Go(func() {
		select {
		case <-i.signals:
		case <-i.done:
			return
		}
		close(i.first)
		i.ended.Go(notify) // beside, since it may take its time, and a second signal does not wait
		select {
		case <-i.signals:
			os.Exit(exitInterrupted)
		case <-i.done:
		}
	})
	return i
}

// stop ends the watch; signals then have their usual effect again.
func (i *interrupts) stop() {
	signal.Stop(i.signals)
	close(i.done)
	i.ended.Wait()
}

// interrupted reports whether a signal has come.
func (i *interrupts) interrupted() bool {
	select {
	case <-i.first:
		return true
	default:
		return false
	}
}

// stopper holds what an interrupt has to stop at the moment.
type stopper struct {
	mu      sync.Mutex
	stop    func()
	stopped bool
}

// set makes stop what an interrupt calls. One that has come already calls it at once.
func (s *stopper) set(stop func()) {
	s.mu.Lock()
	s.stop = stop
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		stop()
	}
}

// interrupt stops what there is to stop.
func (s *stopper) interrupt() {
	s.mu.Lock()
	s.stopped = true
	stop := s.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
}
