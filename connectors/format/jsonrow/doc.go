// Package jsonrow converts between JSON values and packed rows, for the formats that carry JSON.
//
// Reading is exact: integers never pass through floating point, a DECIMAL keeps every digit, and what does
// not fit the declared type is an error with its place. As in Flink, a string that holds a number is taken
// for it, and a STRING column takes the text of any value.
package jsonrow
