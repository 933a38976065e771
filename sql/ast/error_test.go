package ast

import (
	"errors"
	"testing"
)

func TestErrors(t *testing.T) {
	at := Pos{File: "orders.sql", Line: 4, Col: 9, Offset: 60}
	e := &Error{Pos: at, Msg: `unknown option "topics"`, Hint: `did you mean "topic"?`}
	if got, want := e.Error(), `orders.sql:4:9: unknown option "topics"; did you mean "topic"?`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := (&Error{Msg: "x"}).Error(); got != "x" {
		t.Errorf("an error without a place: %s", got)
	}
	if got := (Pos{Line: 1, Col: 2}).String(); got != "1:2" {
		t.Errorf("a place without a file: %s", got)
	}
	if ErrorList(nil).Err() != nil {
		t.Error("an empty list is an error")
	}
	list := ErrorList{e, {Msg: "x"}}.Err()
	var first *Error
	if !errors.As(list, &first) || first != e {
		t.Errorf("the list doesn't unwrap: %v", first)
	}
	if got, want := list.Error(), e.Error()+"\nx"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
