# Completion of ragcli for fish. Made from the command tree by: python -m ragcli.cli.reference.generate
function __ragcli_command
    set -l words (commandline -opc)
    set -e words[1]
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word -s --session --data-dir --color --progress
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end
function __ragcli_is
    set -l command (__ragcli_command)
    test "$command" = "$argv[1]"
end
function __ragcli_values
    set -l words (commandline -opc)
    set -l session
    for at in (seq (count $words))
        if contains -- $words[$at] -s --session
            set -l next (math $at + 1)
            test $next -le (count $words); and set session -s $words[$next]
        end
    end
    ragcli completion --values $argv[1] $session 2>/dev/null
end
complete -c ragcli -f
complete -c ragcli -n '__ragcli_is ""' -a index -d 'Make or refresh the index of a directory or a file.'
complete -c ragcli -n '__ragcli_is ""' -a search -d 'Find the chunks that answer a query, best first.'
complete -c ragcli -n '__ragcli_is ""' -a prompt -d 'Wrap a question and the evidence for it in a prompt.'
complete -c ragcli -n '__ragcli_is ""' -a eval -d 'Measure how well searches answer judged queries.'
complete -c ragcli -n '__ragcli_is ""' -a status -d 'Show what is indexed, and what failed and why.'
complete -c ragcli -n '__ragcli_is ""' -a knowledge -d 'List, check or refresh declared knowledge, or pull it for an action.'
complete -c ragcli -n '__ragcli_is ""' -a add -d 'Add a document of your own, and print its id.'
complete -c ragcli -n '__ragcli_is ""' -a list -d 'List the added documents, or files of the index.'
complete -c ragcli -n '__ragcli_is ""' -a show -d 'Show what is stored of a file or an added document, or the part of it that a result cites.'
complete -c ragcli -n '__ragcli_is ""' -a rm -d 'Remove added documents.'
complete -c ragcli -n '__ragcli_is ""' -a clear -d 'Empty a session.'
complete -c ragcli -n '__ragcli_is ""' -a config -d 'Show each setting, its value and its origin.'
complete -c ragcli -n '__ragcli_is ""' -a completion -d 'Print the completion script of a shell.'
complete -c ragcli -n '__ragcli_is ""' -a mcp -d 'Serve search, read and prompt to coding agents, by the Model Context Protocol.'
complete -c ragcli -n '__ragcli_is ""' -a agents -d 'Show how to set up a coding agent, or set it up.'
complete -c ragcli -n '__ragcli_is ""' -a export -d 'Write a session to one file, to be imported elsewhere.'
complete -c ragcli -n '__ragcli_is ""' -a import -d 'Make a session from a file that export wrote.'
complete -c ragcli -s s -l session -x -a '(__ragcli_values sessions)' -d 'Use a named session, or one by its id (RAGCLI_SESSION).'
complete -c ragcli -l data-dir -r -F -d 'Keep indexes below this directory (RAGCLI_DATA_DIR).'
complete -c ragcli -s q -l quiet -d 'Print no summary and no notice.'
complete -c ragcli -s v -l verbose -d 'More output on stderr.'
complete -c ragcli -l color -x -a 'auto always never' -d 'Colour the output: auto, always or never.'
complete -c ragcli -l progress -x -a 'auto always never' -d 'Show progress: auto, always or never.'
complete -c ragcli -l json -d 'Print JSON.'
complete -c ragcli -l version -d 'Print the version and exit.'
complete -c ragcli -s h -l help -d 'Show this message and exit.'
complete -c ragcli -n '__ragcli_is index' -F
complete -c ragcli -n '__ragcli_is index' -l include -x -d 'Index only what matches, as in a .gitignore: \'*.py\', \'src/\'. Repeatable.'
complete -c ragcli -n '__ragcli_is index' -l exclude -x -d 'Leave out what matches, as .gitignore does. Repeatable.'
complete -c ragcli -n '__ragcli_is index' -l format -x -a 'AUTO TEXT MARKDOWN HTML XML JSON JSONL YAML TOML CSV NOTEBOOK PDF DOCX XLSX PPTX EPUB SOURCE_CODE' -d 'Read every file as this format (default AUTO).'
complete -c ragcli -n '__ragcli_is index' -l limits -x -a 'strict standard' -d 'strict, for trees nobody vouches for, or standard.'
complete -c ragcli -n '__ragcli_is index' -l default-skips -l no-default-skips -d 'Skip build, vendor, node_modules ... (default: skip).'
complete -c ragcli -n '__ragcli_is index' -l ignore -l no-ignore -d 'Obey .gitignore and .tnsignore (default: obey).'
complete -c ragcli -n '__ragcli_is index' -l rebuild -d 'Read every file again, whatever is stored.'
complete -c ragcli -n '__ragcli_is index' -l verify -d 'Hash every file instead of trusting size and time.'
complete -c ragcli -n '__ragcli_is index' -l strict -d 'Commit nothing and exit 6 if any document fails.'
complete -c ragcli -n '__ragcli_is index' -l dry-run -d 'Say what would happen; write nothing.'
complete -c ragcli -n '__ragcli_is index' -l allow-empty -d 'Accept that a root with files now has none.'
complete -c ragcli -n '__ragcli_is index' -l workers -x -d 'Extract in so many processes; 0: in this one, without time and memory limits.  [x>=0]'
complete -c ragcli -n '__ragcli_is index' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
complete -c ragcli -n '__ragcli_is index' -l max-files -x -d 'Files of a tree. (standard 1,000,000, strict 4,096)'
complete -c ragcli -n '__ragcli_is index' -l max-entries -x -d 'Directory entries of a tree, skipped ones too. (standard 4,000,000, strict 8,192)'
complete -c ragcli -n '__ragcli_is index' -l max-depth -x -d 'Depth of a tree; the root is 0. (standard 64, strict 64)'
complete -c ragcli -n '__ragcli_is index' -l max-total-text -x -d 'Bytes of decoded text in all. (standard 17,179,869,184, strict 67,108,864)'
complete -c ragcli -n '__ragcli_is index' -l max-raw-text -x -d 'Bytes of one text file. (standard 16,777,216, strict 16,777,216)'
complete -c ragcli -n '__ragcli_is index' -l max-raw-binary -x -d 'Bytes of one file of a binary format. (standard 67,108,864, strict 16,777,216)'
complete -c ragcli -n '__ragcli_is index' -l max-text -x -d 'Characters of one document. (standard 67,108,864, strict 16,777,216)'
complete -c ragcli -n '__ragcli_is index' -l max-blocks -x -d 'Blocks of one document. (standard 1,000,000, strict 65,536)'
complete -c ragcli -n '__ragcli_is index' -l max-block-chars -x -d 'Characters of one block. (standard 1,048,576, strict 1,048,576)'
complete -c ragcli -n '__ragcli_is index' -l max-chunk-lines -x -d 'Lines of one chunk. (standard 100, strict 100)'
complete -c ragcli -n '__ragcli_is index' -l max-chunk-bytes -x -d 'Bytes of one chunk. (standard 16,384, strict 16,384)'
complete -c ragcli -n '__ragcli_is index' -l max-chunks -x -d 'Chunks of one document. (standard 65,536, strict 1,024)'
complete -c ragcli -n '__ragcli_is index' -l max-pdf-pages -x -d 'Pages of one PDF. (standard 10,000, strict 10,000)'
complete -c ragcli -n '__ragcli_is index' -l max-page-glyphs -x -d 'Glyphs of one PDF page. (standard 1,048,576, strict 1,048,576)'
complete -c ragcli -n '__ragcli_is index' -l max-zip-entries -x -d 'Entries of an Office or EPUB file. (standard 10,000, strict 1,000)'
complete -c ragcli -n '__ragcli_is index' -l max-xml-depth -x -d 'Depth of XML. (standard 256, strict 256)'
complete -c ragcli -n '__ragcli_is index' -l max-xml-nodes -x -d 'Nodes of XML. (standard 20,000,000, strict 1,000,000)'
complete -c ragcli -n '__ragcli_is index' -l max-inflation -x -d 'Inflated size of a packed file, as a multiple of its raw cap. (standard 8, strict 8)'
complete -c ragcli -n '__ragcli_is index' -l extraction-seconds -x -d 'Seconds that one extraction may take. (standard 30.0, strict 30.0)'
complete -c ragcli -n '__ragcli_is index' -l extraction-memory -x -d 'Bytes of memory that one extraction may take. (standard 1,073,741,824, strict 1,073,741,824)'
complete -c ragcli -n '__ragcli_is index' -l max-ignore-bytes -x -d 'Bytes of one ignore file. (standard 65,536, strict 65,536)'
complete -c ragcli -n '__ragcli_is index' -l max-ignore-rules -x -d 'Rules of one ignore file. (standard 1,024, strict 1,024)'
complete -c ragcli -n '__ragcli_is index' -l knowledge -d 'Read declared sources, all or the one that PATH names.'
complete -c ragcli -n '__ragcli_is index' -l agent -x -d 'Use what this agent declares (default: what no agent does).'
complete -c ragcli -n '__ragcli_is index' -l role -x -d 'Use what this role of the agent declares too.'
complete -c ragcli -n '__ragcli_is index' -l run -r -F -d 'Lay a run file over the declarations (RAGCLI_RUN).'
complete -c ragcli -n '__ragcli_is index' -l base-dir -r -F -d 'Resolve relative paths of declarations from here.'
complete -c ragcli -n '__ragcli_is index' -l allow-outside -d 'Let a tree declare URLs, databases and paths outside it.'
complete -c ragcli -n '__ragcli_is search' -s k -l top -x -d 'Show at most this many results (default 10).  [x>=1]'
complete -c ragcli -n '__ragcli_is search' -s g -l glob -x -d 'Only files that match; !GLOB leaves out. Repeatable, later wins.'
complete -c ragcli -n '__ragcli_is search' -s t -l type -x -a '(__ragcli_values languages)' -d 'Only this language (python, go ...). Repeatable.'
complete -c ragcli -n '__ragcli_is search' -l format -x -a 'AUTO TEXT MARKDOWN HTML XML JSON JSONL YAML TOML CSV NOTEBOOK PDF DOCX XLSX PPTX EPUB SOURCE_CODE' -d 'Only documents of this format (PDF ...). Repeatable.'
complete -c ragcli -n '__ragcli_is search' -l max-per-file -x -d 'Take at most this many chunks of one file (default 3).  [x>=1]'
complete -c ragcli -n '__ragcli_is search' -s C -l context -x -d 'On a terminal, show so many lines around the best.  [x>=0]'
complete -c ragcli -n '__ragcli_is search' -l fresh -d 'Index what changed first.'
complete -c ragcli -n '__ragcli_is search' -l batch -d 'Read queries from stdin, one a line; print one JSON object for each.'
complete -c ragcli -n '__ragcli_is search' -l plain -d 'Print path:line:text, one line a hit (the default in a pipe).'
complete -c ragcli -n '__ragcli_is search' -l pretty -d 'Print readable blocks (the default on a terminal).'
complete -c ragcli -n '__ragcli_is search' -l jsonl -d 'Print one JSON object a hit.'
complete -c ragcli -n '__ragcli_is search' -s l -l files -d 'Print the paths of the files that hold hits.'
complete -c ragcli -n '__ragcli_is search' -s 0 -l null -d 'With -l: end each path with NUL, its bytes as they are.'
complete -c ragcli -n '__ragcli_is search' -l explain -d 'Show what each score is made of.'
complete -c ragcli -n '__ragcli_is search' -l no-signals -d 'Rank by the two basic streams alone.'
complete -c ragcli -n '__ragcli_is search' -l knowledge -x -d 'Search a declared source. Repeatable.'
complete -c ragcli -n '__ragcli_is search' -l agent -x -d 'Use what this agent declares (default: what no agent does).'
complete -c ragcli -n '__ragcli_is search' -l role -x -d 'Use what this role of the agent declares too.'
complete -c ragcli -n '__ragcli_is search' -l run -r -F -d 'Lay a run file over the declarations (RAGCLI_RUN).'
complete -c ragcli -n '__ragcli_is search' -l base-dir -r -F -d 'Resolve relative paths of declarations from here.'
complete -c ragcli -n '__ragcli_is search' -l allow-outside -d 'Let a tree declare URLs, databases and paths outside it.'
complete -c ragcli -n '__ragcli_is prompt' -s f -l file -r -F -d 'Read the question from a file.'
complete -c ragcli -n '__ragcli_is prompt' -s k -l top -x -d 'Quote at most this many chunks (default 5).  [x>=1]'
complete -c ragcli -n '__ragcli_is prompt' -l max-tokens -x -d 'Keep the whole prompt within an estimate of so many tokens.  [x>=1]'
complete -c ragcli -n '__ragcli_is prompt' -s g -l glob -x -d 'Only files that match; !GLOB leaves out. Repeatable, later wins.'
complete -c ragcli -n '__ragcli_is prompt' -s t -l type -x -a '(__ragcli_values languages)' -d 'Only this language (python, go ...). Repeatable.'
complete -c ragcli -n '__ragcli_is prompt' -l format -x -a 'AUTO TEXT MARKDOWN HTML XML JSON JSONL YAML TOML CSV NOTEBOOK PDF DOCX XLSX PPTX EPUB SOURCE_CODE' -d 'Only documents of this format (PDF ...). Repeatable.'
complete -c ragcli -n '__ragcli_is prompt' -l max-per-file -x -d 'Take at most this many chunks of one file (default 3).  [x>=1]'
complete -c ragcli -n '__ragcli_is prompt' -l fresh -d 'Index what changed first.'
complete -c ragcli -n '__ragcli_is prompt' -l no-signals -d 'Rank by the two basic streams alone.'
complete -c ragcli -n '__ragcli_is prompt' -l chat -d 'Ground the question on the sources declared for chat.'
complete -c ragcli -n '__ragcli_is prompt' -l action -x -d 'Call a declared action, with the sources that it names.'
complete -c ragcli -n '__ragcli_is prompt' -l param -x -d 'A parameter of the action. Repeatable.'
complete -c ragcli -n '__ragcli_is prompt' -l agent -x -d 'Use what this agent declares (default: what no agent does).'
complete -c ragcli -n '__ragcli_is prompt' -l role -x -d 'Use what this role of the agent declares too.'
complete -c ragcli -n '__ragcli_is prompt' -l run -r -F -d 'Lay a run file over the declarations (RAGCLI_RUN).'
complete -c ragcli -n '__ragcli_is prompt' -l base-dir -r -F -d 'Resolve relative paths of declarations from here.'
complete -c ragcli -n '__ragcli_is prompt' -l allow-outside -d 'Let a tree declare URLs, databases and paths outside it.'
complete -c ragcli -n '__ragcli_is eval' -s k -l top -x -d 'Measure recall at N (default 10).  [x>=1]'
complete -c ragcli -n '__ragcli_is eval' -s g -l glob -x -d 'Only files that match; !GLOB leaves out. Repeatable, later wins.'
complete -c ragcli -n '__ragcli_is eval' -s t -l type -x -a '(__ragcli_values languages)' -d 'Only this language (python, go ...). Repeatable.'
complete -c ragcli -n '__ragcli_is eval' -l format -x -a 'AUTO TEXT MARKDOWN HTML XML JSON JSONL YAML TOML CSV NOTEBOOK PDF DOCX XLSX PPTX EPUB SOURCE_CODE' -d 'Only documents of this format (PDF ...). Repeatable.'
complete -c ragcli -n '__ragcli_is eval' -l max-per-file -x -d 'Take at most this many chunks of one file (default 3).  [x>=1]'
complete -c ragcli -n '__ragcli_is eval' -l no-signals -d 'Rank by the two basic streams alone.'
complete -c ragcli -n '__ragcli_is eval' -l against -x -d 'Compare with these search options, such as \'--no-signals\'.'
complete -c ragcli -n '__ragcli_is eval' -l min-ndcg -x -d 'Exit with 1 where the mean NDCG@10 is below X.  [0<=x<=1]'
complete -c ragcli -n '__ragcli_is eval' -l failures -x -d 'Show the N worst queries and what ranked above.  [default: 0; x>=0]'
complete -c ragcli -n '__ragcli_is status' -l all -d 'Show every session.'
complete -c ragcli -n '__ragcli_is knowledge' -a 'list check refresh pull'
complete -c ragcli -n '__ragcli_is knowledge' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
complete -c ragcli -n '__ragcli_is knowledge' -l action -x -d 'With pull: the action whose sources are printed.'
complete -c ragcli -n '__ragcli_is knowledge' -l param -x -d 'A parameter of the action. Repeatable.'
complete -c ragcli -n '__ragcli_is knowledge' -l agent -x -d 'Use what this agent declares (default: what no agent does).'
complete -c ragcli -n '__ragcli_is knowledge' -l role -x -d 'Use what this role of the agent declares too.'
complete -c ragcli -n '__ragcli_is knowledge' -l run -r -F -d 'Lay a run file over the declarations (RAGCLI_RUN).'
complete -c ragcli -n '__ragcli_is knowledge' -l base-dir -r -F -d 'Resolve relative paths of declarations from here.'
complete -c ragcli -n '__ragcli_is knowledge' -l allow-outside -d 'Let a tree declare URLs, databases and paths outside it.'
complete -c ragcli -n '__ragcli_is add' -l file -r -F -d 'Read the text from a file.'
complete -c ragcli -n '__ragcli_is add' -s m -l meta -x -d 'Metadata of it. Repeatable.'
complete -c ragcli -n '__ragcli_is add' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
complete -c ragcli -n '__ragcli_is list' -l files -d 'List the indexed files.'
complete -c ragcli -n '__ragcli_is list' -l failed -d 'List the documents that failed, and why.'
complete -c ragcli -n '__ragcli_is list' -l skipped -d 'List the paths that were left out, and why.'
complete -c ragcli -n '__ragcli_is show' -F -a '(__ragcli_values documents)'
complete -c ragcli -n '__ragcli_is show' -l page -x -d 'Only this page of a PDF.  [x>=1]'
complete -c ragcli -n '__ragcli_is show' -l sheet -x -d 'Only this sheet of a workbook, by its name or number.'
complete -c ragcli -n '__ragcli_is show' -l slide -x -d 'Only this slide.  [x>=1]'
complete -c ragcli -n '__ragcli_is show' -s n -l neighbours -x -d 'Also the N lines around lines, or the N chunks around anything else.  [default: 0; 0<=x<=10000]'
complete -c ragcli -n '__ragcli_is show' -l text -d 'Print its normalized text and nothing else.'
complete -c ragcli -n '__ragcli_is rm' -a '(__ragcli_values documents)'
complete -c ragcli -n '__ragcli_is rm' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
complete -c ragcli -n '__ragcli_is clear' -s y -l yes -d 'Do not ask.'
complete -c ragcli -n '__ragcli_is clear' -l remove -d 'Delete the session itself too.'
complete -c ragcli -n '__ragcli_is clear' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
complete -c ragcli -n '__ragcli_is completion' -a 'bash zsh fish'
complete -c ragcli -n '__ragcli_is completion' -l values -x -a 'sessions documents languages' -d 'Print sessions, documents or languages.'
complete -c ragcli -n '__ragcli_is mcp' -l root -r -F -d 'Answer from indexes at or below this directory (repeatable).'
complete -c ragcli -n '__ragcli_is mcp' -l allow-index -d 'Offer the tool that indexes and refreshes.'
complete -c ragcli -n '__ragcli_is mcp' -l fresh -x -d 'Refresh before an answer, for so long at the most.  [default: 0.0; x>=0.0]'
complete -c ragcli -n '__ragcli_is mcp' -l http -x -d 'Serve HTTP on 127.0.0.1 instead of stdio; the token is RAGCLI_MCP_TOKEN, else one is made and told.  [0<=x<=65535]'
complete -c ragcli -n '__ragcli_is agents' -l install -d 'Put the entry into the client\'s file; shows the change.'
complete -c ragcli -n '__ragcli_is agents' -l uninstall -d 'Take the entry out of the client\'s file.'
complete -c ragcli -n '__ragcli_is agents' -l global -d 'The user\'s file instead of the project\'s.'
complete -c ragcli -n '__ragcli_is agents' -s n -l dry-run -d 'Show the change and write nothing.'
complete -c ragcli -n '__ragcli_is export' -F
complete -c ragcli -n '__ragcli_is import' -F
complete -c ragcli -n '__ragcli_is import' -l wait -x -d 'Wait so long for another process that writes (default 10).  [x>=0]'
