// Package format lays out SQL: keywords in upper case, one blank between tokens, lines indented by what they belong to.
// Line breaks are the author's, but for lines that are too long. Comments stay where they are, and the tokens stay what
// they are, which is checked: formatting changes no meaning.
package format
