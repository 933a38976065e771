// Package jsonscan is a strict JSON scanner made for streams of messages that look alike.
//
// It reads a message once, checks all of it against RFC 8259 (whole message, UTF-8, escapes with their
// surrogate pairs, numbers, depth), and notes where the wanted members lie, as tokens. Names match
// exactly; of two members of one name the last wins, as in encoding/json; numbers stay text, so that no
// digit is lost.
//
// # How it is fast
//
// A Shape names the members wanted of an object. The first message is read by the general code (object.go),
// which also writes down how the message is laid out: a program (program.go) of literal pieces, such as
// `,"user_id":`, each followed by something that varies. The next message is compared with the pieces and
// only what varies is scanned. Values that nobody wants and that were the same in every message so far are
// part of the pieces, which turns the schema block of a Kafka Connect message into one comparison. Where a
// message does not fit the program, it is read by the general code and the program is written anew.
//
// A piece that compares equal was checked when the program was written, and ends at the same place of the
// grammar, so that a message read by a program is checked as strictly as any other. A program never
// reports an error itself: it gives up, and the general code finds the fault and its place.
package jsonscan
