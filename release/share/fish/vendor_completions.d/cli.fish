function __cli_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l lines (command $tokens[1] --complete fish $tokens[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
    printf '%s\n' $lines[2..-1]
end
complete -c cli -f -a '(__cli_complete)'
