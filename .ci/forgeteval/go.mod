module stet/forgeteval

go 1.26.0
