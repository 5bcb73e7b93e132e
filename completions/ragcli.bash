# Completion of ragcli for bash. Made from the command tree by: python -m ragcli.cli.reference.generate
_ragcli() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    local command= plain= word kind= options argument words i session=()
    # bash parts --option=value at the equals sign.
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" && $COMP_CWORD -gt 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        --) plain=1 ;;
        -s|--session|--data-dir|--color|--progress)
            [[ ${COMP_WORDS[i+1]} == "=" ]] && ((i++))
            [[ $word == -s || $word == --session ]] && ((i + 1 < COMP_CWORD)) && session=(-s "${COMP_WORDS[i+1]}")
            ((i++)) ;;
        -*) ;;
        *) [[ -z $command ]] && command=$word ;;
        esac
    done
    case $command:$prev in
        *:-s|*:--session) kind=sessions ;;
        *:--data-dir) kind=files ;;
        *:--color) kind=WHEN ;;
        *:--progress) kind=WHEN ;;
        index:--include) kind=none ;;
        index:--exclude) kind=none ;;
        index:--format) kind=FORMAT ;;
        index:--limits) kind=PROFILE ;;
        index:--workers) kind=none ;;
        index:--wait) kind=none ;;
        index:--max-files) kind=none ;;
        index:--max-entries) kind=none ;;
        index:--max-depth) kind=none ;;
        index:--max-total-text) kind=none ;;
        index:--max-raw-text) kind=none ;;
        index:--max-raw-binary) kind=none ;;
        index:--max-text) kind=none ;;
        index:--max-blocks) kind=none ;;
        index:--max-block-chars) kind=none ;;
        index:--max-chunk-lines) kind=none ;;
        index:--max-chunk-bytes) kind=none ;;
        index:--max-chunks) kind=none ;;
        index:--max-pdf-pages) kind=none ;;
        index:--max-page-glyphs) kind=none ;;
        index:--max-zip-entries) kind=none ;;
        index:--max-xml-depth) kind=none ;;
        index:--max-xml-nodes) kind=none ;;
        index:--max-inflation) kind=none ;;
        index:--extraction-seconds) kind=none ;;
        index:--extraction-memory) kind=none ;;
        index:--max-ignore-bytes) kind=none ;;
        index:--max-ignore-rules) kind=none ;;
        index:--agent) kind=none ;;
        index:--role) kind=none ;;
        index:--run) kind=files ;;
        index:--base-dir) kind=files ;;
        search:-k|search:--top) kind=none ;;
        search:-g|search:--glob) kind=none ;;
        search:-t|search:--type) kind=languages ;;
        search:--format) kind=FORMAT ;;
        search:--max-per-file) kind=none ;;
        search:-C|search:--context) kind=none ;;
        search:--knowledge) kind=none ;;
        search:--agent) kind=none ;;
        search:--role) kind=none ;;
        search:--run) kind=files ;;
        search:--base-dir) kind=files ;;
        prompt:-f|prompt:--file) kind=files ;;
        prompt:-k|prompt:--top) kind=none ;;
        prompt:--max-tokens) kind=none ;;
        prompt:-g|prompt:--glob) kind=none ;;
        prompt:-t|prompt:--type) kind=languages ;;
        prompt:--format) kind=FORMAT ;;
        prompt:--max-per-file) kind=none ;;
        prompt:--action) kind=none ;;
        prompt:--param) kind=none ;;
        prompt:--agent) kind=none ;;
        prompt:--role) kind=none ;;
        prompt:--run) kind=files ;;
        prompt:--base-dir) kind=files ;;
        eval:-k|eval:--top) kind=none ;;
        eval:-g|eval:--glob) kind=none ;;
        eval:-t|eval:--type) kind=languages ;;
        eval:--format) kind=FORMAT ;;
        eval:--max-per-file) kind=none ;;
        eval:--against) kind=none ;;
        eval:--min-ndcg) kind=none ;;
        eval:--failures) kind=none ;;
        knowledge:--wait) kind=none ;;
        knowledge:--action) kind=none ;;
        knowledge:--param) kind=none ;;
        knowledge:--agent) kind=none ;;
        knowledge:--role) kind=none ;;
        knowledge:--run) kind=files ;;
        knowledge:--base-dir) kind=files ;;
        add:--file) kind=files ;;
        add:-m|add:--meta) kind=none ;;
        add:--wait) kind=none ;;
        show:--page) kind=none ;;
        show:--sheet) kind=none ;;
        show:--slide) kind=none ;;
        show:-n|show:--neighbours) kind=none ;;
        rm:--wait) kind=none ;;
        clear:--wait) kind=none ;;
        completion:--values) kind=KIND ;;
        mcp:--root) kind=files ;;
        mcp:--fresh) kind=none ;;
        mcp:--http) kind=none ;;
        import:--wait) kind=none ;;
    esac
    case $command in
        index) options='--include --exclude --format --limits --default-skips --no-default-skips --ignore --no-ignore --allow-secrets --no-allow-secrets --rebuild --verify --strict --dry-run --allow-empty --workers --wait -y --yes --max-files --max-entries --max-depth --max-total-text --max-raw-text --max-raw-binary --max-text --max-blocks --max-block-chars --max-chunk-lines --max-chunk-bytes --max-chunks --max-pdf-pages --max-page-glyphs --max-zip-entries --max-xml-depth --max-xml-nodes --max-inflation --extraction-seconds --extraction-memory --max-ignore-bytes --max-ignore-rules --knowledge --agent --role --run --base-dir --allow-outside -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=files ;;
        search) options='-k --top -g --glob -t --type --format --max-per-file -C --context --fresh --batch --plain --pretty --jsonl -l --files -0 --null --explain --no-signals -F --fixed-strings -w --word-regexp --case-sensitive --any-phrase --knowledge --agent --role --run --base-dir --allow-outside -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        prompt) options='-f --file -k --top --max-tokens -g --glob -t --type --format --max-per-file --fresh --no-signals --allow-secrets --no-allow-secrets --chat --action --param --agent --role --run --base-dir --allow-outside -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        eval) options='-k --top -g --glob -t --type --format --max-per-file --no-signals --against --min-ndcg --failures -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        status) options='--all -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        knowledge) options='--wait --action --param --agent --role --run --base-dir --allow-outside -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=TASK ;;
        add) options='--file -m --meta --wait -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        list) options='--files --failed --skipped -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        show) options='--page --sheet --slide -n --neighbours --text -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=documents ;;
        rm) options='--wait -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=documents ;;
        clear) options='-y --yes --remove --wait -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        config) options='-s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        completion) options='--values -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=SHELL ;;
        mcp) options='--root --allow-index --fresh --http -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        agents) options='--install --uninstall --global -n --dry-run -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=none ;;
        export) options='-s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=files ;;
        import) options='--wait -s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=files ;;
        '') options='-s --session --data-dir -q --quiet -v --verbose --color --progress --json --version -h --help' argument=commands ;;
        *) options= argument=none ;;
    esac
    if [[ -z $kind && -z $plain && $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    [[ -z $kind ]] && kind=$argument
    case $kind in
        commands) words='index search prompt eval status knowledge add list show rm clear config completion mcp agents export import' ;;
        documents|languages|sessions) words=$("${COMP_WORDS[0]}" completion --values "$kind" "${session[@]}" 2>/dev/null) ;;
        WHEN) words='auto always never' ;;
        FORMAT) words='AUTO TEXT MARKDOWN HTML XML JSON JSONL YAML TOML CSV NOTEBOOK PDF DOCX XLSX PPTX EPUB RTF SOURCE_CODE' ;;
        PROFILE) words='strict standard' ;;
        SHELL) words='bash zsh fish' ;;
        TASK) words='list check refresh pull' ;;
        KIND) words='sessions documents languages' ;;
        *) words= ;;
    esac
    # Nothing to offer: readline completes file names.
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ragcli ragcli
