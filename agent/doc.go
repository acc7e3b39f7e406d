// Package agent is the application layer of stet: every use case as one method, for any
// front end (the command line, a server, a hook). A front end parses its input into an
// options struct, calls one method, and shows the result struct.
//
// [Open] gives an [App] on a vault. Its handles hold the use cases of one area each:
// [App.Memories], [App.History], [App.Sessions], and later the vault itself. What a use case needs
// from outside (clock, environment variables, the file-system hook, model clients) comes in
// through [Options]; nothing here prints or reads flags.
//
// The App does what no front end may forget. It decides whether rules and a model compare a
// new memory, connects them with the search index, gives an agent's memories the scope of
// its project, and after every write updates the search index and seals the sessions that
// have ended. Its policy says who may do what: every use case that writes asks it first.
package agent
