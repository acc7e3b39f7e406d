// Package console holds what all commands share: flags, output, questions, help and exit codes.
//
// Of every command, standard output carries the answer and nothing else, standard error carries notes,
// warnings, questions and errors, and the exit code comes from one table. With --json the answer is one
// [envelope] on standard output, and an error is one line on standard error.
//
// A command is a [Command] value: parsing, help and docs/CLI.md are made from it. Its Run turns flags
// into options, calls one method of package agent, and prints the result.
package console
