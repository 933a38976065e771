// Package state holds the tables of a job: the rows that its operators must remember, in memory outside
// the Go heap, written behind to Pebble in one commit per checkpoint together with the input's cut.
//
// A [Store] is a state directory. It is divided into shards by key group; a [Shard] and its [Table]s are
// used by one goroutine, Commit, Stats and the metadata by any.
package state
