// Package state holds the tables of a job: the rows that its operators must remember, in memory outside
// the Go heap, written behind to Pebble in one commit per checkpoint together with the input's cut.
//
// A [Store] is a state directory. It is divided into shards by stage and key group; a [Shard] and its
// [Table]s are used by one goroutine, Commit, Stats and the metadata by any. Without a directory the same
// tables live in memory only: no lists of changes, no tombstones, what is deleted is free at once.
//
// # A table
//
// A [Table] maps a key to its group of entries. The entry (entry.go) is 16 bytes of header before key, sub and
// value, in memory that the arena gives out by 32-bit references (arena.go, memory_*.go). The index
// (index.go) leads from a key's hash to its group's head; the entries of a group are linked, and a group of
// more than 64 has an index of its own (group.go). A group is wholly in memory or wholly not.
//
// Most of a join's time is cache misses. [Table.Load] takes the keys of a whole batch and touches what they
// lead to in passes, so that the misses overlap; it also reads what is not in memory, in one sorted pass
// (load.go).
//
// # A checkpoint
//
// An entry that changes goes into its table's list of changes, once. [Shard.Freeze] copies the entries of
// the list, as Pebble's keys and values, and the shard goes on (freeze.go). [Store.Commit] sorts what all
// shards froze and makes it durable with the cut, as a batch or as a table of its own that Pebble takes in
// (commit.go, sort.go); [Shard.Durable] lets go of tombstones. An entry's flags say where it stands:
//
//	dirty    changed since the last Freeze; in the list
//	flight   in the Frozen that is being committed
//	durable  Pebble has its key, or will when that Frozen is committed: removing it takes a tombstone
//	dead     out of its group, while one of the lists still names it
//
// An entry born and removed between two Freezes is never written. What must never happen is that a Load
// reads from Pebble a group that has changes on their way there: so a group with any dirty entry,
// entry in flight or tombstone stays in memory.
//
// # The budget
//
// Of Options.Budget an eighth is Pebble's block cache, a sixteenth is each of two memtables, and a sixteenth,
// but no more than 64 MB, is each of four kinds of buffers outside the store (BufferShare); the rest is the entries'
// and indexes' memory and the frozen copies. Shards share it: one gives memory back when the
// store has too much in use and itself more than its even share (evict.go). A quarter of the rest, dirty or
// frozen, asks for an early checkpoint (Pressure), since only what is durable can be evicted; half of it asks
// for no more input until a checkpoint is through (Crowded). When one epoch alone changes more than half, the
// oldest changes go to sorted runs beside Pebble (run.go), which the next checkpoint merges with what it froze:
// Pebble never holds what is not committed. So what an epoch can change is bounded by the disk. A Load looks in
// memory, then in the runs, then in Pebble.
//
// A key group of which something was evicted is cold: misses in it are looked up on disk; misses elsewhere are
// final. At the start everything is cold. What fits into half of the budget is read into memory beside the run,
// by the shards themselves while they have nothing else to do (warm.go).
//
// Scratch (scratch.go) lends the same sorted runs to operators that must sort more than memory holds.
package state
