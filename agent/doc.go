// Package agent is the application layer: every use case of stet as one method, for any front end.
//
// A front end (the command line, a server, a hook) parses its input into an options struct, calls one
// method, and shows the result struct. [Open] gives an [App] on a vault; its handles hold the use cases of
// one area each: [App.Memories], [App.History], [App.Sessions], [App.Vault]. What a use case needs from
// outside (clock, environment variables, the file-system hook, model clients) comes in through [Options];
// nothing here prints or reads flags.
//
// The App does what no front end may forget. It decides whether rules and a model compare a new memory,
// connects them with the search index, stores an agent's memories in the scope of its project, and after
// every write updates the search index and seals the sessions that have ended. Its policy says who may do
// what: every use case that writes asks it first.
package agent
