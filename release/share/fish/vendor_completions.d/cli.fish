function __cli_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l lines (command $tokens[1] --complete fish $tokens[2..-1] "$current" 2>/dev/null)
    set -l beside (string split -m 1 ' ' -- "$lines[1]")
    # What stands before a path in its word, such as --into=, is no part of the path.
    set -l before "$beside[2]"
    set -l path (string sub -s (math (string length -- "$before") + 1) -- "$current")
    switch "$beside[1]"
        case files
            printf "%s%s\n" "$before" (__fish_complete_path "$path")
        case directories
            printf "%s%s\n" "$before" (__fish_complete_directories "$path")
    end
    printf '%s\n' $lines[2..-1]
end
complete -c cli -f -a '(__cli_complete)'
