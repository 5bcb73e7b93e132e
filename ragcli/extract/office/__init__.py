"""Word, Excel and PowerPoint: packages of XML parts."""
