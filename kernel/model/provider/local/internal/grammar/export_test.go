package grammar

// CompileDepth is Compile with another limit on how deep texts nest.
var CompileDepth = compile
