// Package realkafka starts a real Apache Kafka broker for tests and benchmarks:
// one node, KRaft, loopback only, on free ports. It needs java (17 or later),
// and Maven the first time, to fetch Kafka's jars into the user's cache.
//
// A test asks for a broker with [ForTest]; everything else uses [Start].
// The helpers ([CreateTopic], [Produce], [LoadJSONL], [ReadTopic]) take a
// broker's address, so that they serve a broker started elsewhere too.
//
// Files: jars.go fetches, lock_unix.go keeps processes from fetching at the
// same time, config.go writes the broker's settings, process.go runs the JVM,
// broker.go puts them together, fortest.go is the door for tests.
package realkafka
