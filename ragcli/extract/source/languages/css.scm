; Rules under their selectors, at-rules under their conditions.
(rule_set (selectors) @label (block) @body) @rule
(media_statement . (_) @label (block) @body) @media
(supports_statement . (_) @label (block) @body) @supports
(keyframes_statement (keyframes_name) @label (_) @body) @keyframes
(at_rule (at_keyword) @label (block) @body) @rule
(comment) @attach
(ERROR) @error
