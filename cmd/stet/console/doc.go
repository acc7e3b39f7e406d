// Package console is what all commands of stet share: where answers and talk
// go, which vault is meant, how flags are read, how an error becomes a message
// and an exit code.
//
// It promises three things about every command. Standard output carries the
// answer and nothing else. Standard error carries the talk. The exit code is the
// verdict, from one table. With --json the answer is
// one [envelope] on standard output and an error is one line on standard error.
//
// A command is a [Command] value: parsing, help and docs/CLI.md are all made
// from it. Its Run turns flags into options, makes one call into package
// agent, and prints the result.
package console
