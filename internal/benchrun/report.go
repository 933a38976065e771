package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicesql/sluice/internal/realkafka"
)

// report is what was measured; a nil part was not.
type report struct {
	machine     machine
	throughput  *throughput
	exact       *throughput
	latency     *latencies
	start       []started
	memory      *memory
	operators   *operators
	reliability *reliability
	budget      *withinBudget
}

// section is a generated part of the document.
type section struct {
	name string // in its markers
	text string
}

// sections are the parts that were measured, in the document's order.
func (r *report) sections() []section {
	var s []section
	if r.throughput != nil || r.exact != nil {
		s = append(s, section{"throughput", r.throughputSection()})
	}
	if r.latency != nil {
		s = append(s, section{"latency", r.latencySection()})
	}
	if r.start != nil {
		s = append(s, section{"start", r.startSection()})
	}
	if r.memory != nil {
		s = append(s, section{"memory", r.memorySection()})
	}
	if r.operators != nil {
		s = append(s, section{"operators", r.operatorsSection()})
	}
	if r.budget != nil {
		s = append(s, section{"budget", r.budgetSection()})
	}
	if r.reliability != nil {
		s = append(s, section{reliabilityName, r.reliabilitySection()})
	}
	return s
}

// reliabilityName is the section that stands in a document of its own.
const reliabilityName = "reliability"

// text is the whole report for a terminal.
func (r *report) text() string {
	var b strings.Builder
	for _, s := range r.sections() {
		b.WriteString(s.text)
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *report) throughputSection() string {
	var b strings.Builder
	f := firstOf(r.throughput, r.exact).blackhole.facts
	fmt.Fprintf(&b, "Workload %s: %s envelopes (%s MB) and %s tombstones, joined into %s rows. %s\n\n",
		f.size.Name, group(f.counts.Envelopes()), group(f.counts.ValueBytes/1_000_000), group(f.counts.Tombstones), group(f.want.Rows), r.machine)
	b.WriteString("| job | source | envelopes/s | whole process, fastest–slowest | peak RSS | changes out |\n|---|---|---|---|---|---|\n")
	for _, t := range []struct {
		of    *throughput
		trust trust
	}{{r.throughput, trusted}, {r.exact, exact}} {
		if t.of != nil {
			b.WriteString(timedRow("Kafka → join → blackhole, state in memory", t.trust, t.of.blackhole))
			b.WriteString(timedRow("Kafka → join → Kafka, Pebble, checkpoint every second", t.trust, t.of.kafka))
		}
	}
	fmt.Fprintf(&b, "\nWhat went into Kafka was verified in every run: %s rows, checksum %d.\n", group(f.want.Rows), f.want.Checksum)
	if r.throughput != nil && r.exact != nil {
		fmt.Fprintf(&b, "The exact default takes %s of the trusted source's time into blackhole and %s into Kafka.\n",
			percent(r.exact.blackhole.elapsed, r.throughput.blackhole.elapsed), percent(r.exact.kafka.elapsed, r.throughput.kafka.elapsed))
	}
	return b.String()
}

func timedRow(job string, t trust, m timed) string {
	return fmt.Sprintf("| %s | %s | %s | %.2f s, %.2f–%.2f | %s | %s |\n", job, t,
		group(int64(m.rate())), m.elapsed.Seconds(), m.fastest.Seconds(), m.slowest.Seconds(), megabytes(m.peak), group(m.said.ChangesOut))
}

func (r *report) latencySection() string {
	var b strings.Builder
	p := r.latency.probing
	fmt.Fprintf(&b, "A change handed to a producer until the joined change was read from the output topic, %s changes a second for %v after %v of warming up, %s users and %s domains loaded. %s\n\n",
		group(int64(p.rate)), p.duration, p.warmUp, group(int64(p.size.Users)), group(int64(3*p.size.Users)), r.machine)
	b.WriteString("| state | p50 | p90 | p99 | max | joined changes |\n|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		state string
		l     [4]time.Duration
		n     int
	}{
		{"in memory", [4]time.Duration{r.latency.inMemory.P50, r.latency.inMemory.P90, r.latency.inMemory.P99, r.latency.inMemory.Max}, r.latency.inMemory.Samples},
		{"Pebble, checkpoint every second", [4]time.Duration{r.latency.onDisk.P50, r.latency.onDisk.P90, r.latency.onDisk.P99, r.latency.onDisk.Max}, r.latency.onDisk.Samples},
	} {
		fmt.Fprintf(&b, "| %s |", row.state)
		for _, d := range row.l {
			fmt.Fprintf(&b, " %.2f ms |", float64(d)/float64(time.Millisecond))
		}
		fmt.Fprintf(&b, " %s |\n", group(int64(row.n)))
	}
	return b.String()
}

func (r *report) startSection() string {
	var b strings.Builder
	fmt.Fprintf(&b, "From the start of the process, broker embedded, %d starts each, `sluice init` into an empty folder. %s\n\n| until | median | slowest |\n|---|---|---|\n", startRuns, r.machine)
	for _, s := range r.start {
		fmt.Fprintf(&b, "| %s | %d ms | %d ms |\n", s.what, s.median.Milliseconds(), s.slowest.Milliseconds())
	}
	return b.String()
}

func (r *report) memorySection() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Kafka → join → blackhole, state in memory. %s\n\n| workload | live rows of the inputs | rows in the state at the end | for rows that are gone | state | peak RSS |\n|---|---|---|---|---|---|\n", r.machine)
	for _, t := range []timed{r.memory.small, r.memory.large} {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", t.facts.size.Name, group(t.facts.liveRows), group(t.said.StateRows),
			group(t.said.StateRows-t.facts.liveRows), megabytes(t.said.StateBytes), megabytes(t.peak))
	}
	fmt.Fprintf(&b, "\nEach live row of the inputs adds %.0f bytes to the process, %.0f of them state.\n", r.memory.perRow(), r.memory.statePerRow())
	return b.String()
}

func firstOf(a, b *throughput) *throughput {
	if a != nil {
		return a
	}
	return b
}

// group writes n with a comma every three digits.
func group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func megabytes(n int64) string { return group(n/1_000_000) + " MB" }

func percent(a, b time.Duration) string {
	return fmt.Sprintf("%.0f %%", 100*float64(a)/float64(b))
}

// kafkaVersion is part of every machine's description.
const kafkaVersion = "Apache Kafka " + realkafka.Version
