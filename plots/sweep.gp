# plots/sweep.gp: a sweep's figure over its first axis, a line for each value of the others; or (lines = 0) a map of two.
# Before it come heading, figure (what is drawn, with its unit), across and others (names of axes), high (logarithmic
# figures), the labels of the axes, and with lines: titles[i] and $line1, ... (x, figure); with a map: columns, rows,
# bright (figures from here on are drawn bright) and $line1 (column, row, figure).
set title heading font 'sans-serif,14' tc rgb '#111111'
set xlabel across tc rgb '#333333'
set border 3 lc rgb '#666666'
set xtics rotate by -35 left nomirror scale 0.6 tc rgb '#333333'
set ytics nomirror scale 0.6
set ytics tc rgb '#333333'
colour(i) = word('#4a86cc #df9626 #3d9970 #b5523b #7d5ba6 #5c6b73 #c2528b #8a7a2e #2aa3b5 #94a63c #333333 #d98880', i)
if (lines > 0) {
    set ylabel figure tc rgb '#333333'
    set grid xtics ytics lt 1 lw 0.5 lc rgb '#40808080'
    if (high) {
        set logscale y
    } else {
        set yrange [0:*]
    }
    if (lines > 1) {
        set key outside right top Left reverse samplen 2 title others font 'sans-serif,11'
    } else {
        unset key
    }
    plot for [i = 1:lines] '$line'.i using 1:2 with linespoints lw 2 pt 7 ps 0.9 lc rgb colour(i) title titles[i]
} else {
    set ylabel others tc rgb '#333333'
    set cblabel figure tc rgb '#333333'
    if (high) {
        set logscale cb
    }
    set palette defined (0 '#1b4965', 0.35 '#4a9aa8', 0.7 '#cfe3c5', 1 '#f6f1d5')
    set xrange [-0.5:columns - 0.5]
    set yrange [-0.5:rows - 0.5]
    unset key
    set border 0
    if (columns * rows <= 200) {
        plot $line1 using 1:2:3 with image, \
            $line1 using 1:2:($3 == $3 ? sprintf('%.4g', $3) : 'failed'):($3 == $3 && $3 < bright ? 0xffffff : 0x222222) with labels tc rgb variable font 'sans-serif,10'
    } else {
        plot $line1 using 1:2:3 with image
    }
}
