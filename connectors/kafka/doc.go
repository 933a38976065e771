// Package kafka holds the connectors kafka and upsert-kafka.
//
// franz-go's client carries the requests: connections, SASL, TLS, API versions, coordinators. What lies
// on the path of every record is done here:
//
//   - The source sends its own Fetch requests (fetcher.go), hands the record batches of a response to the
//     readers as they came (partition.go), and the readers walk them in place (batch.go, reader.go). Nothing is
//     allocated or copied for a record, a position moves over gaps exactly (control records, compacted
//     ranges), and no offset is ever reset, because nothing here knows how to.
//   - The sink frames records into batches itself (framing.go, partitionqueue.go) and sends them with one
//     request in flight a broker (producer.go). While it is under way the next batches grow, which is the
//     linger: none when idle, as much as helps when busy. A record needs no promise of its own; an epoch
//     is acknowledged by counting.
//
// properties.go and security.go translate the Java client's properties; layout.go decides which column
// lies in key, value or metadata; startup.go and offsets.go say where a scan begins and ends.
package kafka
